import type { SluiceError } from "../../errors.ts";
import { isReference, referredBytes } from "../../kernel/record/envelope.ts";
import type { LeasedPayload } from "../../kernel/record/leased-payload.ts";
import type { Settler, Settlement } from "../../kernel/options/types.ts";
import { isUnreadable } from "../../kernel/record/unreadable.ts";
import type { FetchedTasks } from "../../kernel/values/values.ts";
import { each } from "./store-requests.ts";

/** When a task is delivered again whose object could not be read for now, ms. */
const RETRY_AFTER = 30_000;

/** A task of a dequeue, or why its record cannot be read. */
type ReadTask<Task> = { readonly task: Task } | { readonly error: unknown };

/**
 * The tasks of a dequeue with the payloads of their objects.
 *
 * Tasks over `maxBytes` are handed back unstarted, and all tasks behind them too, so that these keep their order.
 * An object that is missing or damaged fails its own task only. If the store does not answer, the tasks whose
 * objects were not read are handed back without being charged.
 *
 * If half of a lease passes meanwhile, the tasks whose turn has not come are handed back unstarted. The others are
 * returned under extended leases, except those that have lost theirs.
 * @param read reads the payload of a task whose payload is a reference
 * @param settle extends leases
 * @param clock ms
 */
export async function fetchTasks<Task extends LeasedPayload>(
  readers: readonly (() => Task)[],
  maxBytes: number,
  read: (task: Task) => Promise<unknown>,
  settle: Settler["settle"],
  clock: () => number,
): Promise<FetchedTasks<Task>> {
  const begun = clock();
  const isLate = ({ leasedFor }: LeasedPayload) => clock() - begun > leasedFor / 2;
  const all = readers.map((reader) => attempt(reader));
  if (!all.some(hasObject)) return { readers, handBacks: [], readyAt: undefined, error: undefined };
  let count = howManyFit(all, maxBytes);
  const failed: Settlement[] = [];
  const readyAt: number[] = [];
  let error: SluiceError | undefined;
  const fetched = await each(all, async (one, i) => {
    if (i < count && "task" in one && isLate(one.task)) count = i;
    if (i >= count || !hasObject(one)) return one;
    const { task } = one;
    // The store does not answer. The other tasks do not wait for that too.
    if (!error) {
      try {
        return { task: { ...task, payload: await read(task) } };
      } catch (thrown) {
        if (isPermanent(thrown)) return { task: { ...task, failure: thrown } };
        error = thrown as SluiceError;
      }
    }
    failed.push({ ...requeue(task), error, delay: RETRY_AFTER, count: false });
    readyAt.push(leasedAt(task) + RETRY_AFTER);
    return undefined;
  });
  const held = fetched.slice(0, count).filter((one) => one !== undefined);
  let deadlines: ReadonlyMap<string, number> | undefined;
  if (held.some((one) => "task" in one && isLate(one.task))) {
    deadlines = await extend(held, settle).catch((thrown: unknown) => {
      error = thrown as SluiceError;
      return new Map<string, number>();
    });
  }
  const isLeased = (one: ReadTask<Task>) => !deadlines || !("task" in one) || deadlines.has(one.task.receipt);
  // A lease that was lost cannot be handed back. The others can.
  const left = [...held.filter((one) => !isLeased(one)), ...all.slice(count)].filter((one) => "task" in one);
  const handBacks: Settlement[] = left.map(({ task }) => ({ ...requeue(task), unstarted: true }));
  readyAt.push(...left.map(({ task }) => leasedAt(task)));
  return {
    readers: held.filter(isLeased).map((one) => () => {
      const task = taskOf(one);
      return { ...task, deadlineAt: deadlines?.get(task.receipt) ?? task.deadlineAt };
    }),
    handBacks: [...handBacks, ...failed],
    readyAt: readyAt.length > 0 ? Math.min(...readyAt) : undefined,
    error,
  };
}

/** Extends the leases of tasks. Returns the new deadline of each receipt whose lease was not lost, epoch ms. */
async function extend(
  all: readonly ReadTask<LeasedPayload>[],
  settle: Settler["settle"],
): Promise<ReadonlyMap<string, number>> {
  const leased = all.filter((one) => "task" in one);
  const settled = await settle(
    leased.map(({ task: { receipt } }) => ({ receipt, outcome: "extend" as const })),
  );
  return new Map(settled.flatMap((one) => (one.ok ? [[one.receipt, one.deadlineAt ?? 0] as const] : [])));
}

function attempt<Task>(reader: () => Task): ReadTask<Task> {
  try {
    return { task: reader() };
  } catch (error) {
    return { error };
  }
}

function taskOf<Task>(read: ReadTask<Task>): Task {
  if ("task" in read) return read.task;
  throw read.error;
}

function hasObject<Task extends LeasedPayload>(one: ReadTask<Task>): one is { readonly task: Task } {
  return "task" in one && isReference(one.task.payload);
}

/** How many of the tasks, from the first on, fit into `maxBytes`; at least one. */
function howManyFit(all: readonly ReadTask<LeasedPayload>[], maxBytes: number): number {
  let total = 0;
  for (const [i, one] of all.entries()) {
    total += sizeOf(one);
    if (i > 0 && total > maxBytes) return i;
  }
  return all.length;
}

function sizeOf(one: ReadTask<LeasedPayload>): number {
  if (!("task" in one)) return 0;
  const { payload, bytes = 0 } = one.task;
  return isReference(payload) ? referredBytes(payload) : bytes;
}

/** When the task was leased, on the clock of its deadline. */
function leasedAt({ deadlineAt, leasedFor }: LeasedPayload): number {
  return deadlineAt - leasedFor;
}

function requeue({ receipt }: LeasedPayload) {
  return { receipt, outcome: "requeue" as const };
}

function isPermanent(error: unknown): error is SluiceError {
  return isUnreadable(error);
}
