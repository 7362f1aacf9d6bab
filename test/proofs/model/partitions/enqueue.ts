import type { Enqueued } from "../../../../src/index.ts";
import { slotOf } from "../../../../src/kernel/names/slots.ts";
import type { PartitionMap } from "../../../../src/features/partitions/map.ts";
import { begin, known } from "../enqueue.ts";
import { newEnds } from "../transitions.ts";
import type { Observation } from "./observation.ts";
import type { NewModelTask } from "./operations.ts";
import { must, mustEqual, type PartitionsState } from "./state.ts";

const RESULT_TTL = 1_200_000;
const DEAD_TTL = 1_800_000;

/**
 * Adds tasks, and compares the answer. It does not depend on partitions: an id and a dedup key are known to the
 * whole queue, whichever partitions own or owned their slots.
 * @param knew the map that the caller had read before
 */
export function enqueue(
  state: PartitionsState,
  tasks: readonly NewModelTask[],
  key: string | undefined,
  answer: unknown,
  after: Observation,
  knew: PartitionMap | undefined,
): void {
  must(Array.isArray(answer), `enqueue is answered ${JSON.stringify(answer)}`);
  const answers = answer as readonly Enqueued[];
  mustEqual("the number of answers", answers.length, tasks.length);
  const producer = key === undefined ? `call ${state.step}` : `key ${key}`;
  const call = key === undefined ? undefined : state.keyed.find((known) => known.key === key);
  const ids = call?.ids ?? tasks.map(({ id }) => id);
  const answered = new Map<string, string>();
  const ours = new Map<string, string>();
  for (const [i, asked] of tasks.entries()) {
    const given = answers[i] as Enqueued;
    const id = ids[i] ?? (given.created ? given.id : undefined);
    const before = id === undefined ? undefined : answered.get(id);
    if (id !== undefined && before !== undefined) {
      mustEqual(`task ${i}, which is twice in the call`, given, { id: before, created: false });
      continue;
    }
    const own = id === undefined ? undefined : known(state, { ...asked, id }, producer).own;
    const holder = asked.dedup && firstOf(state, asked.dedup.key);
    const first = asked.dedup && (ours.get(asked.dedup.key) ?? holder);
    if (own !== undefined) {
      mustEqual(`task ${i}, known as ${state.tasks.get(id ?? "")?.state}`, given, { id, created: own });
      if (asked.dedup && own && id !== undefined) ours.set(asked.dedup.key, id);
    } else if (first !== undefined && first !== id) {
      // One partition may know the key of an earlier task of the call, and another its next holder.
      const isHolder = holder !== undefined && given.id === holder;
      const expected = { id: isHolder ? holder : first, created: false };
      mustEqual(`task ${i}, whose dedup key is in use`, given, expected);
    } else if (!given.created && asked.dedup && given.id === formerHolder(state, asked.dedup.key)) {
      ids[i] = given.id;
    } else {
      must(given.created, `task ${i} is not created, and nothing like it is known: ${JSON.stringify(given)}`);
      if (id !== undefined) mustEqual(`the id of task ${i}`, given.id, id);
      add(state, given.id, asked, { producer, i, after, knew });
      ids[i] = given.id;
      if (asked.dedup) {
        ours.set(asked.dedup.key, given.id);
        const { key: dedupKey, window } = asked.dedup;
        const last = state.windows.get(dedupKey);
        const until = state.now + window;
        const formerUntil = last?.id === given.id ? Math.max(last.formerUntil, last.until) : 0;
        state.windows.set(dedupKey, { id: given.id, until, formerUntil });
      }
    }
    if (ids[i] !== undefined) answered.set(ids[i], given.id);
  }
  if (key !== undefined && !call) state.keyed.push({ key, tasks, ids: [...ids] });
}

function firstOf(state: PartitionsState, key: string): string | undefined {
  const found = state.windows.get(key);
  return found && found.until > state.now ? found.id : undefined;
}

/** The holder of a dedup key by the note of a former partition, whose window is that of an earlier life of the holder. */
function formerHolder(state: PartitionsState, key: string): string | undefined {
  const found = state.windows.get(key);
  return found && found.formerUntil > state.now ? found.id : undefined;
}

/** The call that adds a task: the place of the task in it, and what was known before and after. */
interface AddingCall {
  readonly producer: string;
  readonly i: number;
  readonly after: Observation;
  readonly knew: PartitionMap | undefined;
}

function add(
  state: PartitionsState,
  id: string,
  asked: NewModelTask,
  { producer, i, after, knew }: AddingCall,
): void {
  const [found] = after.known.get(id) ?? [];
  must(found !== undefined, `${id} was created and is in no partition`);
  const text = asked.id ?? asked.dedup?.key ?? asked.group;
  if (text !== undefined) {
    // Of a call in whose midst the owners changed, the owner may be a former one by now.
    const isPartitioned = after.spaces[0]?.tasks.has("~slots") ?? false;
    const places = [isPartitioned ? after.owners[slotOf(text)] : 0, ...after.map.former];
    must(
      places.includes(found.partition),
      `${id} went to partition ${found.partition}, which does not own its slot`,
    );
  }
  // Of an earlier life in another partition nothing is known there, nor its versions. Nor is it in the same one, if a
  // caller with an old map has asked that as a former one, which gave the life up, before it read who owns the slot.
  const isOld = text !== undefined && knew !== undefined && knew.owners[slotOf(text)] !== found.partition;
  const isGivenUp = state.partitions.get(id) !== found.partition || (isOld && found.record.version === 1);
  const old = isGivenUp ? undefined : state.tasks.get(id);
  const task = { resultTtl: RESULT_TTL, deadTtl: DEAD_TTL, ...asked, id };
  begin(state, state.now, task, { old, ends: newEnds(), producer });
  state.partitions.set(id, found.partition);
  state.slotsOfTasks.set(id, text === undefined ? undefined : slotOf(text));
  // Those of one call are in its order.
  state.places.set(id, state.step + i / 1_000);
}
