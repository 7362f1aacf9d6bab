import { invalidArgument } from "../../errors.ts";
import { milliseconds } from "../options/duration.ts";
import { escaped, onlyOptions, unescaped, wholeNumber } from "../options/validation.ts";
import { asciiJson, writeWorker } from "../record/record.ts";
import type { Worker } from "../options/types.ts";

/** Longest `node` of a worker, in characters. */
const MAX_NODE = 128;

/**
 * A worker as the scripts take it at a dequeue or heartbeat.
 * @throws {SluiceError} `invalid_argument`
 */
export function workerArguments(worker: Worker): { worker: string; info: string } {
  const name = writeWorker(worker, "worker");
  onlyOptions(worker, ["name", "incarnation", "node", "pid", "silentAfter", "goneAfter"], "worker.");
  const { node = "", pid, silentAfter, goneAfter } = worker;
  if (typeof node !== "string" || node.length > MAX_NODE) {
    throw invalidArgument("worker.node", `must be a text of at most ${MAX_NODE} characters`);
  }
  const gone = goneAfter === undefined ? "" : `g${milliseconds(goneAfter, "worker.goneAfter", { min: 1 })}`;
  const silent =
    silentAfter === undefined ? gone : milliseconds(silentAfter, "worker.silentAfter", { min: 1 });
  const process = pid === undefined ? "" : wholeNumber(pid, "worker.pid", 0, 2 ** 53 - 1);
  // JSON in ASCII has no line break, and `;` is escaped.
  return { worker: name, info: `${silent};${escaped(asciiJson(node))};${process}` };
}

/**
 * Reads the record of a worker: a version, the time, and the info that {@link workerArguments} wrote.
 * The note that a worker was failed has the same form: its time is that of the failure.
 * @param record empty for a worker that was failed
 */
export function readWorkerInfo(record: string): {
  seenAt: number | null;
  silentAfter?: number;
  node?: string;
  pid?: number;
  goneAfter?: number;
} {
  if (record === "") return { seenAt: null };
  const [, seenAt, after = "", node = "", pid = ""] = record.split(";");
  return {
    seenAt: Number(seenAt),
    ...(after.startsWith("g")
      ? { goneAfter: Number(after.slice(1)) }
      : after !== "" && { silentAfter: Number(after) }),
    ...(node !== "" && node !== `""` && { node: JSON.parse(unescaped(node)) as string }),
    ...(pid !== "" && { pid: Number(pid) }),
  };
}
