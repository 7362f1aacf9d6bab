import { readReceipt } from "../../../../src/kernel/names/receipt.ts";
import { partitionsOf } from "../../../../src/features/partitions/map.ts";
import { give } from "../dequeue.ts";
import type { ModelTask } from "../state.ts";
import type { Caller } from "./instance.ts";
import { type Observation, partitionNames } from "./observation.ts";
import type { Pull } from "./operations.ts";
import { isOffered, mustBeItsTurn } from "./strict.ts";
import { must, mustEqual, type PartitionsState } from "./state.ts";

const DEFAULT_LEASE = 300_000;

/** A delivered task. */
interface Delivered {
  readonly id: string;
  readonly receipt: string;
  readonly payload: unknown;
  readonly attempt: number;
  readonly enqueuedAt: number;
  readonly deadlineAt: number;
  readonly group?: string | undefined;
}

/**
 * Leases the tasks of an answer, which must be admissible: which partition is visited is not predicted.
 * @param follow makes the transitions of all other tasks that the call has made
 */
export function dequeue(state: PartitionsState, pull: Pull, answer: unknown, follow: () => void): void {
  must(Array.isArray(answer), `dequeue is answered ${JSON.stringify(answer)}`);
  const delivered = answer as readonly Delivered[];
  must(delivered.length <= pull.max, `${delivered.length} tasks, and at most ${pull.max} were asked for`);
  const tasks = delivered.map(({ id }) => {
    const task = state.tasks.get(id);
    must(task !== undefined && state.isReady(task), `${id} was delivered and is ${task?.state}`);
    if (task.state !== "pending") state.fallDue(task);
    return task;
  });
  must(new Set(tasks).size === tasks.length, "a task was delivered twice in one batch");
  must(
    new Set(tasks.map(({ id }) => state.partitions.get(id))).size <= 1,
    "a batch is of several partitions",
  );
  follow();
  for (const [i, task] of tasks.entries()) {
    const most = Math.max(1, Math.floor(pull.max / 10 ** task.expired));
    must(
      tasks.length <= most,
      `${task.id} with ${task.expired} expired leases is in a batch of ${tasks.length}`,
    );
    if (state.isOrdered && task.group !== undefined) mustBeItsTurn(state, task);
    else mustBeFirstOfGroup(state, task, tasks.slice(i));
    lease(state, task, pull, delivered[i] as Delivered);
  }
}

/** In one partition the tasks of a group that have one slot are delivered in order. */
function mustBeFirstOfGroup(
  { tasks, partitions, slotsOfTasks, places }: PartitionsState,
  { id, group }: ModelTask,
  rest: readonly ModelTask[],
): void {
  const place = places.get(id);
  if (group === undefined || place === undefined) return;
  for (const other of tasks.values()) {
    if (other.state !== "pending" || other.group !== group || partitions.get(other.id) !== partitions.get(id))
      continue;
    // By an old map they went to two partitions, and one of them may have been sent on.
    if (slotsOfTasks.get(other.id) !== slotsOfTasks.get(id)) continue;
    if ((places.get(other.id) ?? place) >= place) continue;
    const isBehind = rest.includes(other) ? "behind it in the batch" : "still waiting";
    throw new Error(`${id} of group ${group} was delivered, and the earlier ${other.id} is ${isBehind}`);
  }
}

function lease(state: PartitionsState, task: ModelTask, pull: Pull, given: Delivered): void {
  const { id, receipt, payload, attempt, enqueuedAt, deadlineAt, group } = given;
  const { lease: number, token, place: partition } = readReceipt(receipt, "receipt");
  must(number > (state.leases.get(partition) ?? 0), `lease number ${number} of ${id} is used again`);
  state.leases.set(partition, number);
  state.lease = number - 1;
  const { max, lease: leasedFor = DEFAULT_LEASE } = pull;
  const expected = give(state, state.now, { max, token, lease: leasedFor, resend: false }, task);
  mustEqual(
    id,
    { id, payload, attempt, enqueuedAt, deadlineAt, group, lease: number, partition },
    {
      ...expected,
      payload: task.payload,
      enqueuedAt: task.enqueuedAt,
      group: task.group,
      partition: state.partitions.get(id),
    },
  );
  state.receipts.push(receipt);
}

/**
 * An empty answer is right only if no task is ready that the instance could know of. It knows the partitions of
 * its map, which may be a minute old, and which of them have work, as it has read within a second.
 * @param readBefore what the instance had read of the registry before the call
 * @param before the keys then
 */
export function mustBeEmpty(
  state: PartitionsState,
  { known }: Caller,
  readBefore: ReadonlyMap<string, number> | undefined,
  before: Observation,
): void {
  const partitions = known.map ? partitionsOf(known.map) : [0];
  const hasReadNow = known.scores !== readBefore;
  for (const task of state.tasks.values()) {
    const partition = state.partitions.get(task.id) as number;
    if (!state.isReady(task) || !partitions.includes(partition)) continue;
    if (state.isOrdered && !isOffered(state, task, before)) continue;
    const score = known.scores.get(partitionNames[partition] as string);
    const wasIdle = score !== undefined && (score <= 0 || score > state.now);
    must(
      wasIdle && !hasReadNow,
      `the answer is empty, and ${task.id} is ${task.state} in partition ${partition}, whose score is ${score}`,
    );
  }
}

/** The order of partitions in which `copy` of a call looks is the same if it sees the same partitions. */
export function mustBeCopy(first: unknown, copy: unknown): void {
  const receipts = (answer: unknown) => (answer as readonly Delivered[]).map(({ receipt }) => receipt);
  mustEqual("the copy of a dequeue", receipts(copy), receipts(first));
}
