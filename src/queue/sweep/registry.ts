import { registryKey, type Keys } from "../core/keys.ts";
import { onlyOptions, scanCursor, wholeNumber } from "../core/validation.ts";
import { lastReply } from "../redis/replies.ts";
import { callOf } from "../redis/binding.ts";
import { listQueuesScript, registerScript } from "../redis/sweep-scripts.ts";
import { checkedTransport, type Command, type ScriptCall, type Transport } from "../redis/transport.ts";

/** How often one function instance notes a queue as in use. */
const REGISTER_EVERY = 60_000;

const MOST_NOTES = 10_000;

/** When an instance last noted a queue, and whether the queue has settings that its enqueues must look at. */
interface Note {
  readonly at: number;
  readonly look: boolean;
}

/** This instance's notes; by database, or by transport where that names none. */
const noted = new Map<string, Note>();
const notedByTransport = new WeakMap<Transport, Map<string, Note>>();

function notesOf(transport: Transport): Map<string, Note> {
  if (transport.database !== undefined) return noted;
  const own = notedByTransport.get(transport) ?? new Map<string, Note>();
  notedByTransport.set(transport, own);
  return own;
}

function nameOf(transport: Transport, keys: Pick<Keys, "tasks">): string {
  return `${transport.database} ${keys.tasks}`;
}

/** Makes this instance note the queue again at its next enqueue: it has left the registry. */
export function forgetNote(transport: Transport, keys: Pick<Keys, "tasks">): void {
  notesOf(transport).delete(nameOf(transport, keys));
}

/** Notes queues in the registry. */
export function registerCall(
  keys: Pick<Keys, "queues">,
  queues: readonly string[],
  testNow: string,
): ScriptCall {
  return callOf(
    registerScript,
    keys,
    { testNow },
    queues.map((queue) => ({ queue })),
  );
}

/**
 * What goes in front of an enqueue, in the same request: a note of the queue, at most once a minute a
 * function instance, whose clock decides only how often. That enqueue also looks at the queue's settings, and
 * those after it where it found any; so queues without settings pay once a minute.
 */
export function registration(
  transport: Transport,
  keys: Keys,
  queue: string,
  testNow: string,
): { commands: readonly Command[]; look: boolean; done: (look: boolean | undefined) => void } {
  const notes = notesOf(transport);
  const name = nameOf(transport, keys);
  const now = Date.now();
  const last = notes.get(name);
  const since = now - (last?.at ?? Number.NEGATIVE_INFINITY);
  const fresh = since >= 0 && since < REGISTER_EVERY;
  const done = (look: boolean | undefined) => {
    // Queues without number, such as one a user, must not fill the instance's memory.
    if (notes.size >= MOST_NOTES) notes.clear();
    notes.set(name, { at: fresh ? (last?.at ?? now) : now, look: look ?? last?.look ?? false });
  };
  if (fresh) return { commands: [], look: last?.look ?? false, done };
  return { commands: [registerCall(keys, [queue], testNow)], look: true, done };
}

export interface RegisteredQueue {
  readonly name: string;
  /** When it was last known to be in use, epoch ms, to within some minutes. */
  readonly seenAt: number;
}

export interface QueuePage {
  readonly queues: readonly RegisteredQueue[];
  /** Redis's time, epoch ms. */
  readonly now: number;
  /** For the next page; null after the last. */
  readonly cursor: string | null;
}

export interface ListQueuesOptions {
  /** @default "sluice" */
  readonly prefix?: string | undefined;
  /** The cursor of the page before. @default the first page */
  readonly cursor?: string | undefined;
  /** About this many queues, 1 to 1,000. @default 100 */
  readonly size?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

/** A queue that has schedules: when they are to be looked at, epoch ms. */
export interface Reminder {
  readonly queue: string;
  readonly at: number;
}

/** A page of the registry: queues, and reminders of schedules, not of the same queues. */
export interface RegistryPage extends QueuePage {
  readonly reminders: readonly Reminder[];
}

/**
 * A page of the registered queues, in no order. A queue may come twice where the registry changes
 * between pages; none that stays is missed (Redis's promise for ZSCAN).
 * @throws {SluiceError}
 */
export async function listQueues(transport: Transport, options: ListQueuesOptions = {}): Promise<QueuePage> {
  const { queues, now, cursor } = await readRegistry(transport, options);
  return { queues, now, cursor };
}

/** As {@link listQueues}, with reminders. */
export async function readRegistry(
  transport: Transport,
  options: ListQueuesOptions = {},
): Promise<RegistryPage> {
  onlyOptions(options, ["prefix", "cursor", "size", "signal", "now"]);
  const { prefix, cursor = "0", size = 100, signal, now } = options;
  const call = callOf(
    listQueuesScript,
    { queues: registryKey(prefix) },
    {
      testNow: now ? String(now()) : "",
      cursor: scanCursor(cursor),
      size: String(wholeNumber(size, "size", 1, 1_000)),
    },
  );
  const page = listQueuesScript.decode(lastReply(await checkedTransport(transport).send([call], { signal })));
  return {
    // No queue's name begins so.
    queues: page.queues.filter(({ name }) => !name.startsWith("~")),
    reminders: page.queues
      .filter(({ name }) => name.startsWith("~"))
      .map(({ name, seenAt }) => ({ queue: name.slice(1), at: seenAt })),
    now: page.now,
    cursor: page.cursor === "0" ? null : page.cursor,
  };
}
