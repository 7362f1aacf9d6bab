import { type Binding, callOf } from "./scripts/binding.ts";
import { replyOf } from "./scripts/replies.ts";
import {
  type Command,
  type CommandOutcome,
  type ScriptCall,
  sendForEach,
  type SendOptions,
  type Transport,
} from "./transport.ts";
import { type Note, registerCall } from "./note.ts";

/** A call as a value: what is sent, the note that must go in front of it, and how its reply is read. */
export interface Call<T> {
  readonly command: Command;
  /** @default none */
  readonly note?: Note | undefined;
  /** @throws {SluiceError} the error of this command alone */
  readonly read: (outcome: CommandOutcome | undefined) => T;
}

/** A call of a script. */
export interface CallOfScript<T> extends Call<T> {
  readonly command: ScriptCall;
}

/** What sends calls. */
export type Link = Pick<Transport, "cluster" | "send">;

/**
 * A link for calls of several queues. If there are several nodes or databases, and a request fails as a whole, each
 * call fails alone: others may be reached.
 */
export function eachAlone(link: Link): Link {
  return { cluster: link.cluster, send: (commands, options) => sendForEach(link, commands, options) };
}

/** For each call a function that returns its reply, or throws its error. */
export type Replies<Calls extends readonly Call<unknown>[]> = {
  readonly [I in keyof Calls]: () => Calls[I] extends Call<infer T> ? T : never;
};

/** A call of a plain command. */
export function commandCall<T>(command: Command, read: (reply: ReturnType<typeof replyOf>) => T): Call<T> {
  return { command, read: (outcome) => read(replyOf(outcome)) };
}

/**
 * A call of a bound script on any keys. For those of one queue, see `Shard.call`.
 */
export function scriptCall<const B extends Binding>(
  binding: B,
  keys: Parameters<typeof callOf<B>>[1],
  args: Parameters<typeof callOf<B>>[2],
  items?: Parameters<typeof callOf<B>>[3],
): CallOfScript<ReturnType<B["decode"]>> {
  return {
    command: callOf(binding, keys, args, items),
    read: (outcome) => binding.decode(replyOf(outcome)) as ReturnType<B["decode"]>,
  };
}

/**
 * Sends calls in one request, behind their notes. On a cluster, where commands may run in any order, the notes have a
 * request of their own.
 * @throws {SluiceError} if the request as a whole failed
 */
export async function exchange<const Calls extends readonly Call<unknown>[]>(
  link: Link,
  calls: Calls,
  options: SendOptions = {},
): Promise<Replies<Calls>> {
  const outcomes = await sendNoted(link, calls, options);
  return calls.map((call, i) => () => call.read(outcomes[i])) as unknown as Replies<Calls>;
}

/**
 * Sends calls in one request, as {@link exchange}.
 * @throws {SluiceError} if the request failed, or the error of the first command that did
 */
export async function runAll<T>(
  link: Link,
  calls: readonly Call<T>[],
  options: SendOptions = {},
): Promise<readonly T[]> {
  return (await exchange(link, calls, options)).map((reply) => reply());
}

/**
 * Sends one call.
 * @throws {SluiceError} if the request failed, or the command
 */
export async function run<T>(link: Link, call: Call<T>, options: SendOptions = {}): Promise<T> {
  if (call.note?.isDue) return (await exchange(link, [call], options))[0]();
  const [outcome] = await link.send([call.command], options);
  return call.read(outcome);
}

async function sendNoted(
  link: Link,
  calls: readonly Call<unknown>[],
  options: SendOptions,
): Promise<readonly CommandOutcome[]> {
  const commands = calls.map(({ command }) => command);
  const notes = calls.flatMap(({ note }) => (note?.isDue ? [note] : []));
  const [first] = notes;
  if (!first) return commands.length > 0 ? link.send(commands, options) : [];
  const names = new Set(notes.map(({ name }) => name));
  const before = registerCall(first.keys, [...names], first.testNow);
  const outcomes = link.cluster
    ? [...(await link.send([before], options)), ...(await link.send(commands, options))]
    : await link.send([before, ...commands], options);
  const [noted, ...rest] = outcomes;
  if (noted && "reply" in noted) for (const note of notes) note.written();
  return rest;
}
