import { invalidArgument } from "../../errors.ts";
import { milliseconds } from "../core/duration.ts";
import { escaped, onlyOptions, unescaped, wholeNumber } from "../core/validation.ts";
import { asciiJson, writeWorker } from "../core/record.ts";
import type { Heartbeat, Worker } from "../core/types.ts";
import type { heartbeatScript } from "../redis/task-scripts.ts";

const MAX_NODE = 128;

/** What the scripts are told of a worker at a sign of life. */
export function signOfLife(worker: Worker): { worker: string; info: string } {
  const name = writeWorker(worker, "worker");
  onlyOptions(worker, ["name", "incarnation", "node", "pid", "silentAfter"], "worker.");
  const { node = "", pid, silentAfter } = worker;
  if (typeof node !== "string" || node.length > MAX_NODE) {
    throw invalidArgument("worker.node", `must be a text of at most ${MAX_NODE} characters`);
  }
  const silent = silentAfter === undefined ? "" : milliseconds(silentAfter, "worker.silentAfter", { min: 1 });
  const process = pid === undefined ? "" : wholeNumber(pid, "worker.pid", 0, 2 ** 53 - 1);
  // JSON in ASCII has no line break, and `;` is escaped.
  return { worker: name, info: `${silent};${escaped(asciiJson(node))};${process}` };
}

/** What {@link signOfLife} wrote, as the scripts keep it: behind a version and the time. */
export function readSignOfLife(record: string): {
  seenAt: number | null;
  silentAfter?: number;
  node?: string;
  pid?: number;
} {
  if (record === "") return { seenAt: null };
  const [, seenAt, silentAfter = "", node = "", pid = ""] = record.split(";");
  return {
    seenAt: Number(seenAt),
    ...(silentAfter !== "" && { silentAfter: Number(silentAfter) }),
    ...(node !== `""` && { node: JSON.parse(unescaped(node)) as string }),
    ...(pid !== "" && { pid: Number(pid) }),
  };
}

/**
 * Goes through all of a worker's leases, page by page.
 * @param page takes the lease number to begin at
 * @param told whether they are those that the worker told, so that some may be lost
 */
export async function prolongAll(
  page: (from: number) => Promise<ReturnType<typeof heartbeatScript.decode>>,
  told: boolean,
): Promise<Heartbeat> {
  let leases = 0;
  let deadlineAt: number | null = null;
  const cancelRequested: string[] = [];
  let lost: readonly string[] = [];
  let from = 0;
  do {
    const prolonged = await page(from);
    if (prolonged === null) return { ok: false, code: "worker_lost" };
    leases += prolonged.leases;
    if (prolonged.leases > 0) deadlineAt = Math.min(deadlineAt ?? prolonged.deadlineAt, prolonged.deadlineAt);
    cancelRequested.push(...prolonged.cancelRequested);
    lost = prolonged.lost;
    from = prolonged.next;
  } while (from > 0);
  return { ok: true, leases, deadlineAt, cancelRequested, ...(told && { lost }) };
}
