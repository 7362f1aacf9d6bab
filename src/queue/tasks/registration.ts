import type { Keys } from "../core/keys.ts";
import { callOf } from "../redis/binding.ts";
import { InstanceMemory } from "../redis/instance-memory.ts";
import { registerScript } from "../redis/sweep-scripts.ts";
import type { Command, CommandOutcome, ScriptCall, SendOptions, Transport } from "../redis/transport.ts";

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
 * The command that goes before an enqueue in the same request. It notes the queue in the registry, at most
 * once a minute and function instance. The instance's clock decides only how often. The enqueue with the note
 * also reads the queue's settings. The enqueues after it read them only if the queue has settings that
 * concern enqueues, so that other queues pay once a minute.
 * @param queue its name, or that of a partition
 * @returns the command; whether to read the settings; and `done`. Call it after the note was written, with
 *   whether the queue has such settings (undefined if they were not read)
 */
export function registration(
  transport: Transport,
  keys: Keys,
  queue: string,
  testNow: string,
): {
  /** Goes before the enqueue; undefined if this instance has noted the queue within the minute. */
  command: Command | undefined;
  readSettings: boolean;
  done: (mustReadSettings?: boolean) => void;
} {
  const now = Date.now();
  const last = noted.get(transport, keys.tasks);
  const since = now - (last?.at ?? Number.NEGATIVE_INFINITY);
  const fresh = since >= 0 && since < REGISTER_EVERY;
  const known = last?.readSettings ?? false;
  const done = (mustReadSettings?: boolean) => {
    const at = fresh ? (last?.at ?? now) : now;
    noted.set(transport, keys.tasks, { at, readSettings: mustReadSettings ?? known });
  };
  if (fresh) return { command: undefined, readSettings: known, done };
  return { command: registerCall(keys, [queue], testNow), readSettings: true, done };
}

/**
 * Sends commands behind notes in the registry: in one request, or on a cluster in a second one. A sweep finds only
 * the tasks of registered queues.
 * @returns whether each note was written, and the outcomes of the commands
 */
export async function sendNoted(
  transport: Pick<Transport, "cluster" | "send">,
  notes: readonly (Command | undefined)[],
  commands: readonly Command[],
  options: SendOptions,
): Promise<{ readonly noted: readonly boolean[]; readonly outcomes: readonly CommandOutcome[] }> {
  const before = notes.filter((note): note is Command => note !== undefined);
  if (before.length === 0) return { noted: [], outcomes: await transport.send(commands, options) };
  const outcomes = transport.cluster
    ? (await transport.send(before, options)).concat(await transport.send(commands, options))
    : await transport.send([...before, ...commands], options);
  let next = 0;
  const noted = notes.map((note) => {
    const outcome = note && outcomes[next++];
    return outcome !== undefined && "reply" in outcome;
  });
  return { noted, outcomes: outcomes.slice(before.length) };
}

/** The command that notes partitions in front of a call that is not an enqueue, as {@link registration}. */
export function registrations(
  transport: Transport,
  partitions: readonly { readonly keys: Keys; readonly name: string }[],
  testNow: string,
): Pick<ReturnType<typeof registration>, "command" | "done"> {
  const notes = partitions.map(({ keys, name }) => ({
    keys,
    name,
    ...registration(transport, keys, name, testNow),
  }));
  const old = notes.filter(({ command }) => command !== undefined);
  const names = old.map(({ name }) => name);
  const [first] = old;
  return {
    command: first && registerCall(first.keys, names, testNow),
    done(mustReadSettings) {
      for (const { done } of notes) done(mustReadSettings);
    },
  };
}
