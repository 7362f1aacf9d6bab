import { invalidArgument, SluiceError } from "../../errors.ts";

/** A Lua script as the build embeds it. */
export interface Script {
  readonly name: string;
  /** Its text, joined from the parts that scripts share when it is read. */
  readonly source: string;
  /** SHA-1 of `source`, as EVALSHA names it. */
  readonly sha1: string;
  /** SHA-1 of {@link keyLocking} followed by `source`. */
  readonly keyLockingSha1: string;
}

/**
 * The first line that makes Upstash lock only the declared keys of a script, so that queues run in
 * parallel. Open-source Redis refuses it, so the transport adds it, not the file.
 */
export const keyLocking = "#!lua flags=allow-key-locking\n";

/** A Redis reply in its RESP2 shape. */
export type Reply = string | number | null | readonly Reply[];

/** One script call of a request. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** The arguments of every copy after the first, where a resend has to say that it is one. */
  readonly resendArgs?: readonly string[];
}

/** One ordinary Redis command of a request; only ever a read. */
export type PlainCommand = readonly [name: string, ...args: string[]];

export type Command = ScriptCall | PlainCommand;

/** What became of one command. */
export type CommandOutcome = { readonly reply: Reply } | { readonly error: SluiceError };

export interface SendOptions {
  /** Gives up when it aborts: `send` then rejects with code `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** How the queue reaches Redis. */
export interface Transport {
  /**
   * Names the database, without secrets: what a function instance remembers of a database then outlives
   * a transport that is made anew for each request.
   */
  readonly database?: string | undefined;
  /**
   * Sends the commands, in order, in one request, and resends what is worth resending until the
   * transport's deadline. The commands of one request are not atomic together, and one whose script Redis has
   * forgotten runs behind the others.
   * @returns one outcome per command, in order
   * @throws {SluiceError} when the request as a whole failed
   */
  send(commands: readonly Command[], options?: SendOptions): Promise<CommandOutcome[]>;
  /**
   * Listens to a channel, where the transport can. Best effort, as Redis's pub/sub is: what is published while
   * nobody listens is lost, so an end of the connection is told and no other is opened quietly.
   * @returns once Redis has confirmed it: what is published from then on, until the signal aborts or the iteration
   *   is left
   * @throws {SluiceError} when it cannot be opened; from the iteration `redis_unreachable`, when its connection ends
   */
  subscribe?(channel: string, options?: SendOptions): Promise<AsyncIterable<string>>;
}

/** @throws {SluiceError} `invalid_argument` for what is no transport */
export function checkedTransport(value: Transport): Transport {
  if (typeof value?.send !== "function") {
    throw invalidArgument(
      "transport",
      "must be a Transport: sluice-queue/upstash and sluice-queue/resp make them",
    );
  }
  return value;
}
