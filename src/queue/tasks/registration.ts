import type { Keys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { registerScript } from "../redis/sweep-scripts.ts";
import type { Command, ScriptCall, Transport } from "../redis/transport.ts";

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
