import type { ExpiredTask } from "./record/dead-letter.ts";
import type { MaybePromise } from "./maybe-promise.ts";
import type { Settled, Settlement } from "./options/types.ts";
import type { Added } from "./scripts/enqueue-script.ts";
import type { dequeueScript } from "./scripts/take-scripts.ts";
import type { SendOptions } from "./transport.ts";
import type { LeasingRequests } from "./lease/leasing-requests.ts";
import type { Call } from "./call.ts";
import type { Note } from "./note.ts";
import type { QueueRef } from "./queue-ref.ts";
import type { Shard } from "./shard.ts";

/** What decides where a new task goes, and which id it has. */
export interface Draft {
  /** The caller's id. */
  readonly id?: string | undefined;
  readonly group?: string | undefined;
  readonly dedup?: { readonly key: string } | undefined;
  /** Derives the id of a task without one in a call with an idempotency key. */
  readonly derivedId?: (() => Promise<string>) | undefined;
  /** What errors put before the names of options, such as `tasks[3].`. */
  readonly path: string;
  /** Most bytes that its record will have, about. @default few */
  readonly bytes?: () => number;
}

/** A new task as the script takes it. */
export interface Item {
  readonly id: string;
  readonly when: string;
  readonly unique: string;
  /** Its fixed record, without the payload. */
  readonly front: string;
  /** The payload, as it is stored. */
  readonly payload: string;
}

/** Why a task of several callers cannot be encoded. */
export interface Failed {
  readonly failed: unknown;
}

/** What an {@link AddPlainly} has done. */
export interface PlainlyAdded extends Pick<AddReply, "wake" | "taken"> {
  /** How long a consumer counts as awake from then on, ms. @default not known */
  readonly awakeFor?: number | undefined;
}

/**
 * Makes the call that adds plain tasks to a shard.
 * @returns a call whose reply is undefined if it has written nothing, and the tasks must be added as any others
 */
export type AddPlainly = (
  shard: Shard,
  note: Note,
  items: readonly Item[],
  wakeWindow: string,
) => Call<PlainlyAdded | undefined>;

/** Tasks to add: those of one call, or of several. */
export interface AddBatch extends SendOptions {
  readonly drafts: readonly Draft[];
  /**
   * Encodes tasks for their ids. May be called again, if they go elsewhere under other ids.
   * @param places of their drafts in the batch
   * @throws why a task cannot be encoded; if they are of several callers, it is in the place of the item
   */
  readonly encode: (
    places: readonly number[],
    ids: readonly string[],
  ) => MaybePromise<readonly (Item | Failed)[]>;
  /** Whether the tasks are of several callers, so that each is refused alone. */
  readonly refuseEach: boolean;
  /** Whether it is one task, which may share a request with others. */
  readonly mayShare: boolean;
  /** Called if the answer to a copy is that it has added nothing, and another request follows. @default none */
  readonly onNothing?: (() => void) | undefined;
  /** How long a wake of a consumer counts, ms, as the script takes it. @default none is to be woken */
  readonly wakeWindow?: string | undefined;
  /** Adds them if they are plain, and the queue is not divided. @default the script `enqueue-plain` */
  readonly addPlainly?: AddPlainly | undefined;
  /** Whether `addPlainly` also takes tasks with ids of the caller's. Known ones cost a further request. @default false */
  readonly plainWithIds?: boolean | undefined;
  /** The ids, if they are chosen already. @default the store chooses them */
  readonly ids?: readonly string[] | undefined;
  /** Whether a copy with these ids was sent before to other keys, which have changed nothing. @default false */
  readonly isAgain?: boolean | undefined;
}

/** What became of a task: whether it was created, or why it was refused. */
export type AddedTask = Added | Failed;

export interface AddReply {
  /** By the places of their drafts; undefined for one that was not sent. */
  readonly items: readonly (Item | undefined)[];
  readonly added: readonly AddedTask[];
  /** Whether a consumer is to be woken. */
  readonly wake: boolean;
  /** The tasks, if `addPlainly` of the batch has leased them. @default none is leased */
  readonly taken?: Taken | undefined;
  /** What the call that owns the request waits for. */
  readonly after: readonly Promise<void>[];
}

/** What has become ready. Instants are epoch ms, by Redis's clock. */
export interface Ready {
  /** Whether a consumer is to be woken now. */
  readonly now?: boolean | undefined;
  /** When tasks will be due. */
  readonly at?: number | undefined;
  /** When a schedule will be due. */
  readonly scheduleAt?: number | undefined;
}

/** What producers and operators need of a queue. */
export interface Adds {
  readonly queue: QueueRef;
  /** What calls must have in common to share a request. */
  readonly pool: string;
  /** How long a wake of a consumer counts, ms, as the scripts take it; empty if none is to be woken. */
  readonly wakeWindow: () => string;
  /** Called when tasks are ready, or will be. The layer of waking wakes consumers. @default does nothing */
  readonly ready: (tasks: Ready) => Promise<void>;
  /** Called with tasks that were found to be dead letters. The layer of dead letters reports them. @default does nothing */
  readonly expired: (tasks: readonly ExpiredTask[]) => void;
  /** @throws {SluiceError} `too_large` if the tasks are too large together, or a fault of the transport */
  readonly add: (batch: AddBatch) => Promise<AddReply>;
  /**
   * A call on one task, where it is.
   * @param isUnknown whether a reply says that the shard does not know the task
   */
  readonly find: <T>(
    id: string,
    call: (shard: Shard) => Call<T>,
    isUnknown: (reply: T) => boolean,
    options: SendOptions,
  ) => Promise<T>;
  /** The shard of a place. That of place 0 has what the queue has as a whole: settings, schedules. */
  readonly shard: (place: number) => Shard;
  /**
   * The shards that may have tasks, in order.
   * @param fresh reads them now. @default what was read within a minute
   */
  readonly shards: (options: SendOptions & { readonly fresh?: boolean }) => Promise<readonly Shard[]>;
  /** The call that reads which shards there are, to go with others; undefined if there is only one. */
  readonly shardsCall?: (() => Call<unknown> | undefined) | undefined;
  /** The shards that may have a task, the likeliest first. */
  readonly having: (id: string, options: SendOptions) => Promise<readonly Shard[]>;
  /** The shard to which new tasks of a group go. */
  readonly ownerOf: (group: string, options: SendOptions) => Promise<Shard>;
  /**
   * Divides limits of the queue among the shards, after they have changed.
   * @param wake how long a wake of a consumer counts, ms, as the scripts take it
   * @returns whether a consumer is to be woken
   */
  readonly shareLimits?:
    | ((shards: readonly Shard[], wake: string, options: SendOptions) => Promise<boolean>)
    | undefined;
  /**
   * Runs calls on the shards. Runs them again if it turns out that the queue has others: the calls have then changed
   * nothing.
   */
  readonly over: <T>(calls: () => Promise<T>, options: SendOptions) => Promise<T>;
}

export interface TakeRequest {
  readonly max: number;
  /** Of tasks that have none of their own, ms. */
  readonly lease: number;
  readonly maxBytes: number;
  /** As the script takes them; empty for none. */
  readonly worker: string;
  readonly info: string;
  readonly token: string;
  /** Whether the token is the caller's: any request with it may be a copy. */
  readonly mayBeCopy: boolean;
  /** Whether no other request with this token follows. */
  readonly last: boolean;
  /**
   * How long a plain `settleAndTake` relies on the last one that has looked for what is due, ms. Until then it takes only
   * what is ready, and does not know when more will be, which costs two commands less. @default it looks
   */
  readonly lookAfter?: number | undefined;
  /** Whether it may share a request with others. */
  readonly mayShare: boolean;
  /** Sends the requests of the dequeue, and hands back what they lease if its caller aborts it. */
  readonly requests: LeasingRequests;
  /** Called with the tasks that are found to be dead letters, before the reply is complete. @default none */
  readonly onExpired?: Adds["expired"] | undefined;
}

export type TakenTask = ReturnType<typeof dequeueScript.decode>["tasks"][number];

/** What a request has leased. */
export interface Taken {
  readonly tasks: readonly TakenTask[];
  readonly token: string;
  /** The place of the shard that has them. */
  readonly place: number;
  /** When to take again, epoch ms; null if no task waits, or the queue is paused until it is resumed. */
  readonly nextDueAt: number | null;
  readonly paused: boolean;
  /** Whether more tasks may be ready than it has taken, although it asked for more. */
  readonly endedEarly: boolean;
}

/** One settlement as the settle script takes it. */
export interface SettlementArguments {
  /** The place of the shard that has the task. */
  readonly place: number;
  readonly id: string;
  readonly proof: string;
  readonly terms: string;
  readonly text: string;
  /** For how long it pauses the queue, ms. @default it does not */
  readonly pause?: number;
}

export interface SettleBatch extends SendOptions {
  readonly settlements: readonly Settlement[];
  /** The same, as the script takes them. */
  readonly items: MaybePromise<readonly SettlementArguments[]>;
  /** Whether it is one settlement, which may share a request with others. */
  readonly mayShare: boolean;
  /** By which a resend of progress is known; empty if no settlement has progress. */
  readonly token: string;
}

export interface SettleReply {
  /** A result for each settlement, in order. */
  readonly settled: Settled[];
  /** What the call that owns the request waits for. */
  readonly after: readonly Promise<void>[];
}

/** What a long poll asks. */
export interface PeekRequest extends SendOptions {
  /** Whether to read when the first delayed task is due. */
  readonly due: boolean;
  /** Whether to read Redis's time. */
  readonly time: boolean;
}

/**
 * What a queue is to all above it. A layer is a function from a store to a store: notes/internals.md says what it may
 * do.
 */
export interface Store extends Adds {
  readonly take: (request: TakeRequest) => Promise<Taken>;
  readonly settle: (batch: SettleBatch) => Promise<SettleReply>;
  /** Both in one request. Once the tasks are settled, `taken` finishes the take, which may need further requests. */
  settleAndTake(
    batch: SettleBatch,
    request: TakeRequest,
  ): Promise<SettleReply & { readonly taken: () => Promise<Taken> }>;
  /** What a long poll looks at. Instants are epoch ms. */
  readonly peek: (request: PeekRequest) => Promise<{
    readonly hasPending: boolean;
    readonly dueAt?: number | null | undefined;
    readonly now?: number | undefined;
  }>;
}
