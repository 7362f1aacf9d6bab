import { invalidArgument } from "../../errors.ts";
import { readShardName } from "../../kernel/names/keys.ts";
import { queueName } from "../../kernel/options/validation.ts";
import { isScannedPart, type Position } from "./deep-pass.ts";

/** The cursor of a report: the queue or partition, and the position in it, from which the next sweep continues. */
export function writeCursor(queue: string, { part, cursor }: Position): string {
  return `${queue}/${part}/${cursor}`;
}

/** @throws {SluiceError} `invalid_argument` */
export function readCursor(cursor: string | undefined): { queue: string; position: Position } | undefined {
  if (cursor === undefined) return undefined;
  const [, queue, part, scan] = /^([\w.-]+(?:\/\d{1,2})?)\/([\w-]+)\/(\d{1,20})$/.exec(cursor) ?? [];
  if (queue === undefined || part === undefined || scan === undefined || !isScannedPart(part)) {
    throw invalidArgument("cursor", "must be the cursor of an earlier report");
  }
  queueName(readShardName(queue).queue, "cursor");
  return { queue, position: { part, cursor: scan } };
}
