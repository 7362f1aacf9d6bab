/** Random flows. */
import type { After, BatchTask, FlowItem } from "../../../src/features/flows/index.ts";
import type { DrawnFlow } from "./flows-evidence.ts";
import { drawErrand, type Errand, QUEUES } from "./work.ts";

type Roll = (sides: number) => number;

/** Most of the tasks are in two queues. The other one is full of tasks of no flow. */
const PLACES = [QUEUES.steps, QUEUES.steps, QUEUES.steps, QUEUES.stages, QUEUES.stages, QUEUES.plain];

/** A flow, or a batch. @param name begins the marks of its tasks */
export function drawFlow(name: string, roll: Roll): DrawnFlow {
  if (roll(80) === 0) return { items: large(name, roll) };
  return roll(4) === 0 ? drawBatch(name, roll) : { items: drawList(name, roll, 1) };
}

/** What refs of the list with that name have in front. */
const pathOf = (name: string) =>
  name
    .split("/")
    .slice(1)
    .map((ref) => `${ref}/`)
    .join("");

function drawTask(mark: string, roll: Roll, needs: readonly string[] = []) {
  const [does, options] = drawErrand(roll);
  const queue = PLACES[roll(PLACES.length)] as string;
  return {
    queue,
    payload: { mark, does, inFlow: { queue, needs } } as Errand,
    ...options,
    ...(roll(8) === 0 && { delay: roll(800) }),
    ...(roll(8) === 0 && { group: `f${roll(3)}` }),
  };
}

/** Items that wait for those before them. */
function drawList(name: string, roll: Roll, depth: number): FlowItem<string>[] {
  const items = Array.from({ length: 1 + roll(7) }, (_, i): FlowItem<string> => {
    const waits = i === 0 ? [] : Array.from({ length: roll(4) }, () => `t${roll(i)}`);
    const after = [...new Set(waits)].map((ref): After => (roll(3) === 0 ? { ref, on: "ended" } : ref));
    const at = { ref: `t${i}`, after };
    if (depth > 0 && roll(7) === 0) return { ...at, flow: drawList(`${name}/t${i}`, roll, depth - 1) };
    const needs = after.flatMap((one) => (typeof one === "string" ? [pathOf(name) + one] : []));
    return { ...at, ...drawTask(`${name}/t${i}`, roll, needs) };
  });
  const isFollower = (item: FlowItem<string>, ref: string) =>
    !("flow" in item) &&
    (item.after as After[]).some((one) => (typeof one === "string" ? one : one.ref) === ref);
  const grown = items.map((item) => {
    const front = items.find((other) => isFollower(other, item.ref));
    return "flow" in item || !front || roll(5) > 0 ? item : growing(item, front.ref, roll);
  });
  // The first task decides over the home.
  return grown.toSorted(() => roll(3) - 1);
}

function drawBatch(name: string, roll: Roll): DrawnFlow {
  const names = (["completed", "failed", "ended"] as const).filter(() => roll(3) > 0);
  const callbacks = Object.fromEntries(names.map((one) => [one, drawTask(`${name}/${one}`, roll)]));
  const tasks = Array.from({ length: 1 + roll(8) }, (_, i): BatchTask<string> => {
    const task = drawTask(`${name}/${i + 1}`, roll);
    const [front] = names;
    return front === undefined || roll(6) > 0 ? task : growing(task, front, roll);
  });
  return { tasks, callbacks };
}

/** A task that adds others in front of another one. */
function growing<T extends BatchTask<string>>(task: T, ref: string, roll: Roll): T {
  const { mark } = task.payload as Errand;
  const items = Array.from({ length: 1 + roll(3) }, (_, i): FlowItem<string> => {
    const after = i > 0 && roll(2) === 0 ? [`g${i - 1}`] : [];
    return { ref: `g${i}`, after, ...drawTask(`${mark}+g${i}`, roll) };
  });
  const payload = task.payload as Errand;
  return { ...task, payload: { ...payload, inFlow: { ...payload.inFlow, grow: { ref, items } } } };
}

/** A flow that is added in pieces: rows of tasks, each of which waits for one of the row before. */
function large(name: string, roll: Roll): FlowItem<string>[] {
  const row = 80;
  return Array.from({ length: 230 + roll(60) }, (_, i) => ({
    ref: `t${i}`,
    after: i < row ? [] : [{ ref: `t${i - row}`, on: "ended" as const }],
    ...drawTask(`${name}/t${i}`, roll),
  }));
}
