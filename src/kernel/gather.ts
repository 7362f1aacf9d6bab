/** Lets calls of several queues share requests. */
import { MAX_BATCH } from "./options/limits.ts";
import { byteLength } from "./record/byte-length.ts";
import { registerCall } from "./note.ts";
import { registerScript } from "./scripts/sweep-scripts.ts";
import {
  type Command,
  type CommandOutcome,
  type ScriptCall,
  sendForEach,
  type SendOptions,
  type Transport,
} from "./transport.ts";
import { unlessAborted } from "./unless-aborted.ts";

/** About how many bytes the arguments of one request have at most. */
const MAX_BYTES = 5_000_000;

/** How long calls that have sent wait for the others, ms. */
const PATIENCE = 250;

/** Queues noted in the registry by one command. */
const NOTED_PER_COMMAND = 400;

/** What one call has sent. */
interface Sent {
  readonly commands: readonly Command[];
  readonly options: SendOptions;
  readonly resolve: (outcomes: CommandOutcome[]) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs calls whose requests are sent together: what a call sends waits until each of the others has sent, too, or has
 * ended. So calls that send one request each are one request. One that takes longer than the patience, for example
 * because it writes to an object store, does not hold up the others. Notes in the registry become one command.
 *
 * A request has at most 1,000 commands of about 5 MB; beyond that there are several at a time. A failed request fails the
 * calls that are in it.
 * @param calls take a transport of their own each
 * @param patience ms
 */
export async function gather<T>(
  transport: Transport,
  calls: readonly ((own: Transport) => Promise<T>)[],
  patience: number = PATIENCE,
): Promise<PromiseSettledResult<T>[]> {
  const gathering = new Gathering(transport, patience);
  const own = calls.map((call) => [call, gathering.transport()] as const);
  return Promise.allSettled(
    own.map(async ([call, { to, end }]) => {
      try {
        return await call(to);
      } finally {
        end();
      }
    }),
  );
}

class Gathering {
  readonly #base: Transport;
  readonly #patience: number;
  /** By call that has not ended, what it has sent and is not sent yet. */
  readonly #waiting = new Map<object, Sent[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(base: Transport, patience: number) {
    this.#base = base;
    this.#patience = patience;
  }

  /** The transport of one call, and what says that it has ended. */
  transport(): { readonly to: Transport; readonly end: () => void } {
    const call = {};
    this.#waiting.set(call, []);
    const to: Transport = {
      ...this.#base,
      database: databaseOf(this.#base),
      send: (commands, options = {}) => {
        const waiting = this.#waiting.get(call);
        // What a call has left to be done is not for the others.
        if (!waiting) return this.#base.send(commands, options);
        return unlessAborted(options.signal, () => {
          return new Promise((resolve, reject) => {
            waiting.push({ commands, options, resolve, reject });
            this.#timer ??= setTimeout(() => this.#flush(), this.#patience);
            this.#flushIfAll();
          });
        });
      },
    };
    const end = () => {
      this.#waiting.delete(call);
      this.#flushIfAll();
    };
    return { to, end };
  }

  #flushIfAll(): void {
    const all = [...this.#waiting.values()];
    if (all.length > 0 && all.every((sent) => sent.length > 0)) this.#flush();
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const all: Sent[] = [];
    for (const sent of this.#waiting.values()) all.push(...sent.splice(0));
    for (const request of requestsOf(all)) void this.#send(request);
  }

  async #send(request: readonly Sent[]): Promise<void> {
    const aborts = allAborted(request.map(({ options }) => options.signal));
    try {
      const { commands, outcomesOf } = withOneNote(request);
      const outcomes = await sendForEach(this.#base, commands, {
        signal: aborts.signal,
        onSend: () => request.forEach(({ options }) => options.onSend?.()),
      });
      for (const [i, { resolve }] of request.entries()) resolve(outcomesOf(i, outcomes));
    } catch (error) {
      for (const { reject } of request) reject(error);
    } finally {
      aborts.end();
    }
  }
}

/** Names for databases that have none, so that what is remembered of one does not go with each call. */
const names = new WeakMap<Transport, string>();
let named = 0;

function databaseOf(transport: Transport): string {
  if (transport.database !== undefined) return transport.database;
  const name = names.get(transport) ?? `gathered ${++named}`;
  names.set(transport, name);
  return name;
}

/** What was sent, in requests of a bounded size. What one call has sent stays together. */
function requestsOf(all: readonly Sent[]): Sent[][] {
  const requests: Sent[][] = [];
  let [commands, bytes] = [Infinity, 0];
  for (const sent of all) {
    const size = sent.commands.reduce((sum, command) => sum + bytesOf(command), 0);
    commands += sent.commands.length;
    bytes += size;
    if (commands > MAX_BATCH || bytes > MAX_BYTES) {
      requests.push([]);
      [commands, bytes] = [sent.commands.length, size];
    }
    requests.at(-1)?.push(sent);
  }
  return requests;
}

function bytesOf(command: Command): number {
  const texts = "script" in command ? command.args : command;
  return texts.reduce((sum, text) => sum + byteLength(text, 300), 0);
}

const isNote = (command: Command): command is ScriptCall =>
  "script" in command && command.script === registerScript.script;

/** The commands of a request, with one note in the registry in place of many. */
function withOneNote(request: readonly Sent[]) {
  const notes: { readonly of: string; readonly first: ScriptCall; readonly queues: string[] }[] = [];
  const placeOfNote = (note: ScriptCall): number => {
    const of = `${note.keys[0]} ${note.args[0]}`;
    let place = notes.findIndex((one) => one.of === of && one.queues.length < NOTED_PER_COMMAND);
    if (place < 0) place = notes.push({ of, first: note, queues: [] }) - 1;
    notes[place]?.queues.push(...note.args.slice(1));
    return place;
  };
  const others: Command[] = [];
  // A place below zero is that of a note.
  const places = request.map((sent) =>
    sent.commands.map((command) => (isNote(command) ? -1 - placeOfNote(command) : others.push(command) - 1)),
  );
  const noted = notes.map(({ first: { keys, args }, queues }) =>
    registerCall({ queues: keys[0] as string }, [...new Set(queues)], args[0] as string),
  );
  const outcomesOf = (i: number, outcomes: readonly CommandOutcome[]) =>
    (places[i] as number[]).map((place) => {
      return outcomes[place < 0 ? -1 - place : noted.length + place] as CommandOutcome;
    });
  return { commands: [...noted, ...others], outcomesOf };
}

/** A signal that aborts when all of them have; none if one call has none. */
function allAborted(signals: readonly (AbortSignal | undefined)[]) {
  const different = [...new Set(signals)];
  if (different.length === 1 || different.includes(undefined)) {
    return { signal: different.length === 1 ? different[0] : undefined, end: () => {} };
  }
  const controller = new AbortController();
  const check = () => {
    if (different.every((signal) => signal?.aborted)) controller.abort();
  };
  for (const signal of different) signal?.addEventListener("abort", check);
  const end = () => different.forEach((signal) => signal?.removeEventListener("abort", check));
  return { signal: controller.signal, end };
}
