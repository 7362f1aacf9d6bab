import { invalidArgument } from "../../errors.ts";
import { onAll } from "../../kernel/on-all.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import type { ListOptions, RequestOptions } from "../../kernel/options/types.ts";
import {
  LIST_OPTIONS,
  onlyOptions,
  recordName,
  REQUEST_OPTIONS,
  taskId,
  unescaped,
  wholeNumber,
} from "../../kernel/options/validation.ts";
import type { Adds } from "../../kernel/store.ts";
import { listStoppedScript, skipScript } from "./order-scripts.ts";

/** A group that a dead letter has stopped. */
export interface StoppedGroup {
  readonly group: string;
  /** The dead letter. */
  readonly id: string;
}

export interface StoppedGroups {
  /** How many groups of the queue are stopped. */
  readonly total: number;
  /** By name. */
  readonly groups: readonly StoppedGroup[];
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export type Skipped =
  | { readonly ok: true }
  /** Nothing was changed. */
  | { readonly ok: false; readonly code: "not_found" | "not_dead_letter" };

/** Reads a page of the groups that are stopped: see `Operator.stoppedGroups`. */
export async function listStoppedGroups(store: Adds, options: ListOptions): Promise<StoppedGroups> {
  onlyOptions(options, LIST_OPTIONS);
  const size = wholeNumber(options.size ?? 100, "size", 1, MAX_BATCH);
  const after = options.cursor === undefined ? "" : groupIn(options.cursor);
  const args = { after, size: String(size) };
  const replies = await onAll(store, (shard) => shard.call(listStoppedScript, args), options);
  const found = [...replies.values()];
  const all = found
    .flatMap(({ groups }) => groups.map(({ group, id }) => ({ group: unescaped(group), id })))
    .toSorted((one, other) => (one.group < other.group ? -1 : 1));
  const groups = all.slice(0, size);
  const isLast = all.length <= size && found.every((page) => page.groups.length < size);
  const total = found.reduce((sum, page) => sum + page.total, 0);
  const last = groups.at(-1);
  return { total, groups, cursor: isLast || !last ? null : CURSOR + last.group };
}

/** In front of the last group of a page, so that no other text is taken for a cursor. */
const CURSOR = "~";

function groupIn(cursor: string): string {
  if (typeof cursor === "string" && cursor.startsWith(CURSOR)) return recordName(cursor.slice(1), "cursor");
  throw invalidArgument("cursor", "must be the cursor of an earlier call");
}

/** Lets the group of a dead letter go on: see `Operator.skip`. */
export async function skipDeadLetter(store: Adds, id: string, options: RequestOptions): Promise<Skipped> {
  onlyOptions(options, REQUEST_OPTIONS);
  const args = { id: taskId(id), wake: store.wakeWindow() };
  const isUnknown = ({ status }: { readonly status: string }) => status === "not_found";
  const { status, wake } = await store.find(id, (shard) => shard.call(skipScript, args), isUnknown, options);
  await store.ready({ now: wake });
  return status === "skipped" ? { ok: true } : { ok: false, code: status };
}
