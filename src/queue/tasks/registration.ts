import type { Keys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { InstanceMemory } from "../redis/instance-memory.ts";
import { registerScript } from "../redis/sweep-scripts.ts";
import type { Command, CommandOutcome, ScriptCall, Transport } from "../redis/transport.ts";

/** How often one function instance notes a queue as in use, ms. */
const REGISTER_EVERY = 60_000;

/**
 * When this instance last noted a queue as in use, and whether its enqueues must read the queue's settings.
 */
interface Note {
  readonly at: number;
  readonly readSettings: boolean;
}

const noted = new InstanceMemory<Note>();

/** Makes this instance note the queue again at its next enqueue, because the queue has left the registry. */
export function forgetNote(transport: Transport, keys: Pick<Keys, "tasks">): void {
  noted.delete(transport, keys.tasks);
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
  const now = Date.now();
  const last = noted.get(transport, keys.tasks);
  const since = now - (last?.at ?? Number.NEGATIVE_INFINITY);
  const fresh = since >= 0 && since < REGISTER_EVERY;
  const known = last?.readSettings ?? false;
  const done = (mustReadSettings: boolean | undefined) => {
    const at = fresh ? (last?.at ?? now) : now;
    noted.set(transport, keys.tasks, { at, readSettings: mustReadSettings ?? known });
  };
  if (fresh) return { commands: [], readSettings: known, done };
  return { commands: [registerCall(keys, [queue], testNow)], readSettings: true, done };
}

/** The commands that note partitions in front of a call that is not an enqueue, as {@link registration}. */
export function registrations(
  transport: Transport,
  partitions: readonly { readonly keys: Keys; readonly name: string }[],
  testNow: string,
): {
  readonly commands: readonly Command[];
  /** Call it with the outcomes of the request, and with whether enqueues must read the settings, if that is known. */
  readonly done: (outcomes: readonly CommandOutcome[], mustReadSettings?: boolean) => void;
} {
  const notes = partitions.map(({ keys, name }) => ({
    keys,
    name,
    ...registration(transport, keys, name, testNow),
  }));
  const old = notes.filter(({ commands }) => commands.length > 0);
  const names = old.map(({ name }) => name);
  const [first] = old;
  return {
    commands: first ? [registerCall(first.keys, names, testNow)] : [],
    done: (outcomes, mustReadSettings) => {
      if (first && !(outcomes[0] && "reply" in outcomes[0])) return;
      for (const { done } of notes) done(mustReadSettings);
    },
  };
}
