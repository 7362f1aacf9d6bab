import { invalidArgument } from "../../errors.ts";
import { MAX_PARTITIONS } from "../core/partition-slots.ts";
import { writeCursor } from "./filters.ts";

/** Where a run over partitions is: a partition, and the cursor there, empty for the beginning. */
interface PartitionPosition {
  readonly partition: number;
  readonly inner: string;
}

/**
 * Reads the cursor of a run over partitions, one after the other: `<partition>:<cursor there>`. A cursor from before
 * the queue had partitions is one of partition 0.
 * @param first the partition with which a run begins
 * @throws {SluiceError} `invalid_argument`
 */
export function readPartitionCursor(
  cursor: string | undefined,
  kind: Parameters<typeof writeCursor>[1],
  first: number,
): PartitionPosition {
  if (cursor === undefined) return { partition: first, inner: "" };
  const match = typeof cursor === "string" ? /^(\d{1,2}):(.*)$/.exec(cursor) : null;
  if (!match) return { partition: 0, inner: writeCursor(cursor, kind) };
  const [, partition, inner = ""] = match;
  if (Number(partition) >= MAX_PARTITIONS) {
    throw invalidArgument("cursor", "must be the cursor of an earlier call");
  }
  return { partition: Number(partition), inner: inner === "" ? "" : writeCursor(inner, kind) };
}

/**
 * The cursor after a page of a partition; empty after the last page of the last partition.
 * @param partitions all of them, in order
 * @param inner the cursor that the partition returned; empty after its last page
 * @param begin the cursor with which the next partition begins
 */
export function cursorAfter(
  partitions: readonly number[],
  partition: number,
  inner: string,
  begin = "",
): string {
  if (inner !== "") return `${partition}:${inner}`;
  const next = partitions.find((other) => other > partition);
  return next === undefined ? "" : `${next}:${begin}`;
}
