import { invalidArgument, SluiceError } from "../errors.ts";
import type { OrderChecks } from "./order-checks.ts";

/** A Lua script that the build embeds. */
export interface Script {
  readonly name: string;
  /** The text, joined from shared parts when it is read. */
  readonly source: string;
  /** SHA-1 of `source`, as EVALSHA names it. */
  readonly sha1: string;
  /** SHA-1 of {@link keyLocking} followed by `source`. */
  readonly keyLockingSha1: string;
}

/**
 * The first line that makes Upstash lock only the declared keys of a script, so that queues run in
 * parallel. Open-source Redis refuses it, so the transport adds it.
 */
export const keyLocking = "#!lua flags=allow-key-locking\n";

/** A reply of Redis in RESP2. */
export type Reply = string | number | null | readonly Reply[];

/** A script call in a request. */
export interface ScriptCall {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** The arguments of resends, if they must differ from those of the first copy. */
  readonly resendArgs?: readonly string[];
}

/** A Redis command that is not a script: it only reads, or has the same effect if it comes twice. */
export type PlainCommand = readonly [name: string, ...args: string[]];

export type Command = ScriptCall | PlainCommand;

/** The reply to one command, or its error. */
export type CommandOutcome = { readonly reply: Reply } | { readonly error: SluiceError };

export interface SendOptions {
  /** Aborts the request: `send` then rejects with the code `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called each time a copy of the request is sent. A transport that never calls it is taken to send any number of
   * copies.
   */
  readonly onSend?: (() => void) | undefined;
}

/** A queue with partitions, for what keeps groups in strict order. */
export interface DividedQueue {
  readonly name: string;
  readonly prefix?: string | undefined;
  readonly transport: Transport;
  readonly now?: (() => number) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Which partition of a queue owns which slot. */
export interface SlotMap {
  readonly version: number;
  readonly owners: readonly number[];
  readonly former: readonly number[];
  /** While slots change hands: their owners from then on. */
  readonly next: readonly number[] | undefined;
  /** Whether the slots may not change hands yet. */
  readonly isPreparing: boolean;
}

/**
 * Passes the turns of groups on: see `passTurns` in linked/pass-turns.ts.
 * @param wake how long a wake of a consumer counts, ms, as the scripts take it. @default no consumer is woken
 * @param onWake called if a consumer must be woken
 * @param until when to stop, on the clock of `performance.now()`. @default when it is done
 * @returns whether groups wait for a partition that does not own their slot. The slots may not change hands then
 */
export type PassTurns = (
  queue: DividedQueue,
  map: SlotMap,
  wake?: string,
  onWake?: () => void,
  until?: number,
) => Promise<boolean>;

/** How the queue reaches Redis. */
export interface Transport {
  /**
   * Names the database, without secrets. What a function instance remembers of a database then stays valid
   * for a new transport, for example one for each request.
   * @default nothing is remembered beyond the transport
   */
  readonly database?: string | undefined;
  /**
   * First part of every key, for what uses the transport and has no `prefix` of its own. One that is made of an
   * environment has `SLUICE_PREFIX`.
   * @default "sluice"
   */
  readonly prefix?: string | undefined;
  /**
   * Whether commands of one `send` on different hash slots may run in any order, and some of them even if
   * others fail. Commands on the same slot run in order, and one without a key where the first with a key
   * does.
   * @default false
   */
  readonly cluster?: boolean | undefined;
  /**
   * Whether requests go over an open connection, so that they cost little. A drain then takes no more tasks at a time
   * than it is about to begin, and others find the rest.
   * @default false: a drain saves requests
   */
  readonly connected?: boolean | undefined;
  /**
   * Aborts when the transport closes. It ends what would connect again otherwise.
   * @default it does not close
   */
  readonly closing?: AbortSignal | undefined;
  /**
   * Sends the commands in one request, in order, and resends it after faults that may pass, until the
   * transport's deadline. The commands of a request are not atomic together. A command whose script Redis
   * does not have, or that a node of a cluster redirects, runs after the others.
   * @returns one outcome per command, in order
   * @throws {SluiceError} if the request as a whole failed
   */
  send(commands: readonly Command[], options?: SendOptions): Promise<CommandOutcome[]>;
  /**
   * Lets groups in strict order go on after the partitions of their queue have changed. Only a linked transport has it.
   * @internal
   */
  readonly passTurns?: PassTurns | undefined;
  /**
   * Checks what is added to queues that are declared with a strict order. Only a linked transport has it.
   * @internal
   */
  readonly orderChecks?: OrderChecks | undefined;
  /**
   * Subscribes to a channel. Optional. Best effort, as Redis's pub/sub is: messages without a listener are
   * lost. If the connection ends, the iteration throws, and does not reconnect.
   * @returns once Redis has confirmed it: the messages from then on, until the signal aborts, the iteration ends, or
   *   the transport closes
   * @throws {SluiceError} if it cannot subscribe; from the iteration `redis_unreachable` if the connection
   *   ends
   */
  subscribe?(channel: string, options?: SendOptions): Promise<AsyncIterable<string>>;
}

/**
 * Sends commands that must run in order, even if they are on different hash slots: in one request, or on a
 * cluster each in a request of its own.
 * @throws {SluiceError} if a request failed as a whole. The commands after it are then not sent
 */
export async function sendInOrder(
  transport: Transport,
  commands: readonly Command[],
  options?: SendOptions,
): Promise<CommandOutcome[]> {
  if (!transport.cluster) return transport.send(commands, options);
  const outcomes: CommandOutcome[] = [];
  for (const command of commands) outcomes.push(...(await transport.send([command], options)));
  return outcomes;
}

/**
 * Sends commands of several queues in one request. If there are several nodes or databases, a failure is that of the
 * commands: others may be reached, although none of this request was.
 * @throws {SluiceError} `aborted`; without several nodes also if the request as a whole failed
 */
export async function sendForEach(
  transport: Pick<Transport, "cluster" | "send">,
  commands: readonly Command[],
  options?: SendOptions,
): Promise<CommandOutcome[]> {
  try {
    return await transport.send(commands, options);
  } catch (error) {
    if (!transport.cluster || !(error instanceof SluiceError) || error.code === "aborted") throw error;
    return commands.map(() => ({ error }));
  }
}

/**
 * Options with the prefix of the keys: their own, else that of the transport.
 * @throws {SluiceError} `invalid_argument` if it is not a transport
 */
export function withPrefix<Options extends { readonly prefix?: string | undefined }>(
  transport: Transport,
  options: Options,
): Options {
  const { prefix } = checkedTransport(transport);
  return options.prefix === undefined && prefix !== undefined ? { ...options, prefix } : options;
}

/** @throws {SluiceError} `invalid_argument` if it is not a transport */
export function checkedTransport(value: Transport): Transport {
  if (typeof value?.send !== "function") {
    throw invalidArgument(
      "transport",
      "must be a Transport, such as from sluice-queue/upstash or sluice-queue/resp",
    );
  }
  return value;
}
