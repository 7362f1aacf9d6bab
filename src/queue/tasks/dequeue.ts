import type { StandardSchemaV1 } from "@standard-schema/spec";
import { callOf } from "../redis/binding.ts";
import type { Call, Shareable } from "../redis/coalescer.ts";
import { milliseconds } from "../core/duration.ts";
import { decodeBatch, nextToken, type RawBatch } from "./decode-tasks.ts";
import { derivedName, newToken } from "../core/ids.ts";
import type { Keys } from "../core/keys.ts";
import { type LongPollSteps, pollUntilSome, waitOf } from "./long-poll.ts";
import {
  leaseToken,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  requestKey,
  wholeNumber,
} from "../core/validation.ts";
import { lastReply, replyAt } from "../redis/replies.ts";
import type { Batch } from "./leased-task.ts";
import { writeReceipt } from "../core/receipt.ts";
import { readFixed } from "../core/record.ts";
import type { ValuesQueue } from "../values/encryption.ts";
import { dequeueScript } from "../redis/task-scripts.ts";
import type { Command, ScriptCall, Transport } from "../redis/transport.ts";
import type { DequeueOptions, Settled, Settlement } from "../core/types.ts";
import { signOfLife } from "./heartbeat.ts";

/** Most tasks of one dequeue, and most settlements of one settle. */
export const MAX_DEQUEUE = 1_000;

/** Most dequeues of one task in one request: the script's short way is for batches up to about this size. */
const MOST_SHARED = 100;

/** Most calls of one dequeue, the first included. Each passes some 200 entries that are not to be delivered. */
const MOST_CALLS = 50;

const OPTIONS = ["max", "lease", "maxBytes", "worker", "token", "wait", ...REQUEST_OPTIONS];

/** What a pull needs of its queue. */
export interface PullQueue<Out> {
  readonly name: string;
  readonly keys: Keys;
  readonly transport: Transport;
  readonly values: ValuesQueue;
  readonly testNow: string;
  readonly schema: StandardSchemaV1<unknown, Out> | undefined;
  /** ms */
  readonly lease: number;
  readonly maxBytes: number;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
}

/** What a request leased, and the token of the leases. */
interface Leased extends Pick<Dequeued, "nextDueAt" | "paused"> {
  readonly tasks: readonly Dequeued["tasks"][number][];
  readonly token: string;
}

type Dequeued = ReturnType<typeof dequeueScript.decode>;

/** One dequeue: its first request may be shared with a settle, and where nothing was there it may go on to wait. */
export class Pull<Out> {
  readonly #queue: PullQueue<Out>;
  readonly #options: DequeueOptions;
  #first: ScriptCall | undefined;
  readonly #wait: number;
  readonly #args: Omit<Parameters<typeof callOf<typeof dequeueScript>>[2], "token" | "resend">;
  /** With a token of the caller's, a call may be a copy even at its first sending. */
  readonly #mayBeCopy: boolean;
  /** None yet where it is neither the caller's nor needed. */
  #token: string | undefined;
  /** What all its calls together made dead letters of. */
  #invalid = 0;

  /** @throws {SluiceError} `invalid_argument` */
  static async of<Out>(queue: PullQueue<Out>, options: DequeueOptions): Promise<Pull<Out>> {
    onlyOptions(options, OPTIONS);
    const key = requestKey(options);
    const token =
      options.token !== undefined
        ? leaseToken(options.token)
        : key !== undefined
          ? await derivedName("dequeue", queue.name, key)
          : undefined;
    return new Pull(queue, options, token);
  }

  private constructor(queue: PullQueue<Out>, options: DequeueOptions, token: string | undefined) {
    this.#queue = queue;
    this.#options = options;
    this.#token = token;
    this.#mayBeCopy = token !== undefined;
    this.#wait = waitOf(options.wait);
    this.#args = {
      testNow: queue.testNow,
      maxTasks: String(wholeNumber(options.max ?? 1, "max", 1, MAX_DEQUEUE)),
      lease: String(
        options.lease === undefined ? queue.lease : milliseconds(options.lease, "lease", { min: 1 }),
      ),
      maxBytes: String(replyBytes(options.maxBytes ?? queue.maxBytes)),
      ...(options.worker === undefined ? { worker: "", info: "" } : signOfLife(options.worker)),
    };
  }

  /** The first call. */
  get call(): ScriptCall {
    return (this.#first ??= this.#call(this.#wait === 0));
  }

  /** Those with the same can share a request: see {@link share}. Undefined if it has one of its own: {@link call}. */
  get lane(): string | undefined {
    const { maxTasks, lease, maxBytes, worker, info } = this.#args;
    if (maxTasks !== "1" || this.#mayBeCopy || this.#wait > 0) return undefined;
    return `dequeue ${this.#queue.keys.tasks} ${lease} ${maxBytes} ${worker} ${info}`;
  }

  get #leaseToken(): string {
    return (this.#token ??= newToken());
  }

  /** What the first call gave, and what came of it. */
  async answer(dequeued: Dequeued): Promise<Batch<Out>> {
    const { signal } = this.#options;
    const first = await this.take(await this.#leased(this.call, this.#leaseToken, dequeued, signal));
    if (first.length > 0 || this.#wait === 0) return first;
    const steps = { pull: (last: boolean) => this.#pull(last), look: this.#look };
    return pollUntilSome(first, this.#wait, steps, signal);
  }

  /** Leases a task for each of the callers, who have equal options, and deals them out in order of asking. */
  async share(
    calls: readonly Pick<Call<never, Leased>, "answer" | "done">[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    let [asking, token] = [calls, this.#leaseToken];
    for (;;) {
      const call = this.#call(true, { token, maxTasks: String(asking.length) });
      const dequeued = dequeueScript.decode(lastReply(await this.#send([call], signal)));
      const { tasks, ...leased } = await this.#leased(call, token, dequeued, signal);
      // Whoever has left meanwhile gets none.
      asking = asking.filter(({ done }) => !done);
      for (const [i, task] of tasks.entries()) asking[i]?.answer({ ...leased, tasks: [task] });
      this.#handBack(tasks.slice(asking.length), token);
      asking = asking.slice(tasks.length);
      // A batch also ends by its bytes, or beside a task whose leases expired: a call of its own would then get one.
      if (asking.length > 0 && tasks[0] && leased.nextDueAt === this.#leasedAt(tasks[0])) {
        token = newToken();
        continue;
      }
      for (const call of asking) call.answer({ ...leased, tasks: [] });
      return;
    }
  }

  /** Gives back tasks that nobody waits for any more. Where that fails, their leases expire. */
  #handBack(tasks: Leased["tasks"], token: string): void {
    if (tasks.length === 0) return;
    const returned = tasks.map((task) => ({
      receipt: writeReceipt({ ...task, token }),
      outcome: "requeue" as const,
      unstarted: true,
    }));
    this.#queue.settle(returned).catch(() => {});
  }

  /**
   * With a token of the caller's, all calls of one pull have that one, so that whoever resends the pull gets what any of
   * them leased. Only the last marks it as spent: then no late copy leases tasks that nobody would hold. Without, each call
   * has its own, and sees to its own late copies.
   */
  #call(
    lastOfPull: boolean,
    shared: { readonly token?: string; readonly maxTasks?: string } = {},
  ): ScriptCall {
    const last = lastOfPull || !this.#mayBeCopy;
    const resend = last && this.#mayBeCopy ? "1" : "";
    const args = { ...this.#args, token: this.#leaseToken, resend, ...shared };
    const call = callOf(dequeueScript, this.#queue.keys, args);
    return last ? { ...call, resendArgs: call.args.with(dequeueScript.args.indexOf("resend"), "1") } : call;
  }

  async #pull(last: boolean): Promise<Batch<Out>> {
    if (!this.#mayBeCopy) this.#token = newToken();
    return this.take(await this.#run(this.#call(last)));
  }

  readonly #look: LongPollSteps<Batch<Out>>["look"] = async ({ due, time }) => {
    const { pending, fair, delayed } = this.#queue.keys;
    const commands: Command[] = [["EXISTS", pending, fair]];
    if (due) commands.push(["ZRANGE", delayed, "0", "0", "WITHSCORES"]);
    if (time) commands.push(["TIME"]);
    const outcomes = await this.#send(commands, this.#options.signal);
    const replies = outcomes.map((_, i) => replyAt(outcomes, i));
    const some = Number(replies[0]) > 0;
    const [, score] = (due ? replies[1] : []) as readonly string[];
    const [seconds, micros] = (time ? replies.at(-1) : []) as readonly string[];
    return {
      some,
      dueAt: score === undefined ? null : Math.floor(Number(score)),
      now: seconds === undefined ? undefined : Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000),
    };
  };

  #send(commands: readonly Command[], signal: AbortSignal | undefined) {
    return this.#queue.transport.send(commands, { signal });
  }

  async #run(call: ScriptCall): Promise<Leased> {
    const { signal } = this.#options;
    const dequeued = dequeueScript.decode(lastReply(await this.#send([call], signal)));
    return this.#leased(call, this.#leaseToken, dequeued, signal);
  }

  async #leased(
    call: ScriptCall,
    token: string,
    first: Dequeued,
    signal: AbortSignal | undefined,
  ): Promise<Leased> {
    let answer = first;
    for (let calls = 1; answer.more && calls < MOST_CALLS; calls++) {
      // Under the same token, so whichever copy of a call leases something, the others get the same.
      const again: ScriptCall = { ...call, args: call.resendArgs ?? call.args };
      answer = dequeueScript.decode(lastReply(await this.#send([again], signal)));
    }
    return { ...answer, token };
  }

  /** When a task was leased, by Redis's time, epoch ms. */
  #leasedAt({ deadlineAt, record }: Leased["tasks"][number]): number {
    return deadlineAt - Number(/^[^\n]*;l=(\d+)/.exec(record)?.[1] ?? this.#args.lease);
  }

  /** The tasks as a caller gets them, and others if each of them is invalid. */
  async take(leased: Leased): Promise<Batch<Out>> {
    const dequeueAgain = async () => {
      this.#token = await nextToken(this.#queue.name, this.#leaseToken);
      return this.#raw(await this.#run(this.#call(this.#wait === 0)));
    };
    const { schema } = this.#queue;
    const batch = await decodeBatch(this.#queue, schema, this.#raw(leased), dequeueAgain);
    return Object.assign(batch, { invalid: (this.#invalid += batch.invalid) });
  }

  #raw({ nextDueAt, paused, tasks, token }: Leased): RawBatch {
    const leasedFor = Number(this.#args.lease);
    const readers = tasks.map(({ id, attempt, lease, deadlineAt, record }) => () => {
      const { enqueuedAt, lease: fixed, headers, group, payload } = readFixed(record);
      const receipt = writeReceipt({ id, attempt, lease, token });
      return {
        id,
        receipt,
        payload,
        attempt,
        enqueuedAt,
        deadlineAt,
        leasedFor: fixed ?? leasedFor,
        headers,
        group,
      };
    });
    return { readers, nextDueAt: nextDueAt || null, paused };
  }
}

/** Dequeues of one task each, as calls that can share a request. */
export const singlePulls: Shareable<Pick<Pull<unknown>, "share">, Leased> = {
  most: MOST_SHARED,
  send: async (calls, signal) => calls[0]?.item.share(calls, signal),
};
