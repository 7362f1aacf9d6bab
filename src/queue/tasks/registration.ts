import type { Keys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { registerScript } from "../redis/sweep-scripts.ts";
import type { Command, ScriptCall, Transport } from "../redis/transport.ts";

/** How often one function instance notes a queue as in use, ms. */
const REGISTER_EVERY = 60_000;

/** Most queues that one instance keeps notes of. */
const MAX_NOTES = 10_000;

/**
 * When this instance last noted a queue as in use, and whether its enqueues must read the queue's settings.
 */
interface Note {
  readonly at: number;
  readonly readSettings: boolean;
}

/** The notes of this instance, by database; or by transport, if it names no database. */
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

/** Makes this instance note the queue again at its next enqueue, because the queue has left the registry. */
export function forgetNote(transport: Transport, keys: Pick<Keys, "tasks">): void {
  notesOf(transport).delete(nameOf(transport, keys));
}

/** The call that notes queues in the registry. */
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
 * The commands that go before an enqueue in the same request. They note the queue in the registry, at most
 * once a minute and function instance. The instance's clock decides only how often. The enqueue with the note
 * also reads the queue's settings. The enqueues after it read them only if the queue has settings that
 * concern enqueues, so that other queues pay once a minute.
 * @returns the commands; whether to read the settings; and `done`. Call it after the request, with whether
 *   the queue has such settings (undefined if they were not read)
 */
export function registration(
  transport: Transport,
  keys: Keys,
  queue: string,
  testNow: string,
): {
  commands: readonly Command[];
  readSettings: boolean;
  done: (mustReadSettings: boolean | undefined) => void;
} {
  const notes = notesOf(transport);
  const name = nameOf(transport, keys);
  const now = Date.now();
  const last = notes.get(name);
  const since = now - (last?.at ?? Number.NEGATIVE_INFINITY);
  const fresh = since >= 0 && since < REGISTER_EVERY;
  const known = last?.readSettings ?? false;
  const done = (mustReadSettings: boolean | undefined) => {
    // Many queues, such as one for each user, must not fill the instance's memory.
    if (notes.size >= MAX_NOTES) notes.clear();
    notes.set(name, { at: fresh ? (last?.at ?? now) : now, readSettings: mustReadSettings ?? known });
  };
  if (fresh) return { commands: [], readSettings: known, done };
  return { commands: [registerCall(keys, [queue], testNow)], readSettings: true, done };
}
