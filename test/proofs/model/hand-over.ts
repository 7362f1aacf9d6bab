/** Enqueues of tasks that may be plain: for no consumer, for one to be woken, or for one that begins them at once. */
import { addLeased } from "../../../src/features/hand-over/index.ts";
import { Queue } from "../../../src/index.ts";
import { writeReceipt } from "../../../src/kernel/names/receipt.ts";
import type { Taken } from "../../../src/kernel/store.ts";
import { type ClientOptions, enqueueTo, WINDOW } from "./client.ts";
import { give, slotOf } from "./dequeue.ts";
import { enqueue, type ModelNewTask } from "./enqueue.ts";
import type { Copy } from "./expected.ts";
import type { Of } from "./operations.ts";
import type { Adding, Happened } from "./real.ts";
import type { World } from "./world.ts";

/** A task that was leased by its enqueue, as the consumer gets it. */
interface Leased {
  readonly id: string;
  readonly receipt: string;
  readonly deadlineAt: number;
  readonly record: string;
}

interface Added {
  readonly id: string;
  readonly created: boolean;
}

interface Answer {
  readonly tasks: readonly Added[];
  readonly leased: readonly Leased[];
}

/** The call of the library. */
export async function enqueueNew(
  { name, names: _, wake, ...options }: ClientOptions,
  { tasks, consumer, lease }: Of<"enqueueNew">,
): Promise<Answer> {
  let leased: Leased[] = [];
  const begin = ({ tasks: taken, token, place }: Taken) => {
    leased = taken.map(({ id, delivery, lease: number, deadlineAt, record }) => {
      return { id, receipt: writeReceipt({ id, delivery, lease: number, token, place }), deadlineAt, record };
    });
  };
  const handOver = () => ({ addPlainly: addLeased(lease), begin });
  const waker = { wake, window: WINDOW, ...(consumer === "here" && { handOver }) };
  const queue = new Queue(name, { ...options, ...(consumer !== "none" && { wake: waker }) });
  const added = (await enqueueTo(queue, tasks, undefined)) as Added[];
  return { tasks: added, leased };
}

/** The expected answer. */
export function newlyAdded(
  world: World,
  { tasks, consumer, lease }: Of<"enqueueNew">,
  happened: Happened,
  copy: Copy,
): unknown {
  const { adding, answer } = happened;
  const [first, last] = [adding[0] as Adding, adding.at(-1) as Adding];
  const { tasks: added = [], leased = [] } = answer as Partial<Answer>;
  const key = `new ${happened.nth}`;
  const named = world.named(key, tasks, added);
  // The first copy of a script that writes nothing has no effect.
  if (copy === "unheard" && refuses(first, named, world, happened)) return undefined;
  const by = copy === "unheard" ? first : last;
  if (by.script === "enqueueAndLease") return handedOver(world, named, { key, lease, leased, happened });
  const { queue, now } = world;
  // It looks who is awake only if no task waits.
  const isBehind = by.script === "enqueueAndWake" && !by.look && tasks.length === 1 && queue.line.length > 0;
  const wake = consumer === "none" || isBehind ? undefined : WINDOW;
  const reply = enqueue(queue, now, named, { producer: key, asked: "", look: by.look, wake });
  if (typeof reply === "string") return { refused: reply };
  world.learnIds(key, named);
  if (reply.wake) world.woken++;
  return { tasks: reply.tasks, leased: [] };
}

/** Whether a script leaves it to `enqueue` to add tasks. */
function refuses(
  { script, look }: Adding,
  tasks: readonly ModelNewTask[],
  { queue }: World,
  { before }: Happened,
): boolean {
  if (script === "enqueue") return false;
  if (process.env["SLUICE_LANES"] === "full") return true;
  const ids = new Set(tasks.map(({ id }) => id));
  if (ids.size < tasks.length || [...ids].some((id) => queue.tasks.has(id))) return true;
  if (!look && tasks.length === 1) return false;
  const settings = before.tasks.get("~set") ?? "";
  // Those of a queue with an order have a version that it does not read.
  return (
    settings.startsWith("2;") ||
    /;[bes]=/.test(settings) ||
    (script !== "enqueuePlain" && /;p=/.test(settings))
  );
}

function handedOver(
  world: World,
  tasks: readonly ModelNewTask[],
  call: {
    readonly key: string;
    readonly lease: number;
    readonly leased: readonly Leased[];
    readonly happened: Happened;
  },
): unknown {
  const { queue, now } = world;
  const { key, lease, leased, happened } = call;
  const token = leased[0]?.receipt.split(".")[3] ?? "";
  const created = tasks.map(({ id }) => ({ id, created: true }));
  const { before, after } = happened;
  const asConsumer = ({ id }: ModelNewTask) => {
    const { attempt, lease: number } = queue.task(id);
    const receipt = `1.${attempt}.${number}.${token}.${id}`;
    world.keep(receipt);
    return { id, receipt, deadlineAt: queue.working.get(id), record: after.tasks.get(id) };
  };
  // A copy gets the same answer.
  if (tasks.some(({ id }) => queue.tasks.has(id))) return { tasks: created, leased: tasks.map(asConsumer) };

  const isFree = queue.line.length === 0 && !before.tasks.has("~set") && !before.tasks.has("~fair");
  const reply = enqueue(queue, now, tasks, { producer: key, asked: "", look: true, wake: WINDOW });
  if (typeof reply === "string") throw new Error(`a script that hands tasks over has refused: ${reply}`);
  world.learnIds(key, tasks);
  const haveOneAttempt = tasks.some(({ maxAttempts }) => maxAttempts === 1);
  if (!reply.wake || !isFree || haveOneAttempt) {
    if (reply.wake) world.woken++;
    return { tasks: created, leased: [] };
  }
  queue.line = [];
  const dequeue = { max: tasks.length, lease, token, resend: false };
  for (const { id } of tasks) give(queue, now, dequeue, queue.task(id));
  queue.slots.set(slotOf(dequeue), { token, ids: tasks.map(({ id }) => id) });
  return { tasks: created, leased: tasks.map(asConsumer) };
}
