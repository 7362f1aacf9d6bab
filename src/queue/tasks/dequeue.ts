import type { StandardSchemaV1 } from "@standard-schema/spec";
import { abortedBySignal } from "../../errors.ts";
import { callOf } from "../redis/binding.ts";
import type { Shareable, SharedCall } from "../redis/coalescer.ts";
import { reportExpired, type OnDeadLetter } from "../core/dead-letter.ts";
import { milliseconds } from "../core/duration.ts";
import { decodeBatch, nextToken, type RawBatch } from "./decode-tasks.ts";
import { derivedName } from "../core/derived-ids.ts";
import { newToken } from "../core/ids.ts";
import type { Keys } from "../core/keys.ts";
import { MAX_BATCH } from "../core/limits.ts";
import { type LongPollSteps, pollForTasks, waitMilliseconds } from "./long-poll.ts";
import {
  leaseToken,
  onlyOptions,
  replyBytes,
  REQUEST_OPTIONS,
  requestKey,
  wholeNumber,
} from "../core/validation.ts";
import type { LeasingRequests } from "./leasing-requests.ts";
import { lastReply, replyAt } from "../redis/replies.ts";
import type { Batch } from "./leased-task.ts";
import { writeReceipt } from "../core/receipt.ts";
import { leaseOf, readFixed } from "../core/record.ts";
import type { ValuesQueue } from "../values/encryption.ts";
import { dequeueScript } from "../redis/task-scripts.ts";
import type { Command, ScriptCall, Transport } from "../redis/transport.ts";
import type { Tracing } from "../core/tracing.ts";
import type { Settled, Settlement } from "../core/types.ts";
import { workerArguments } from "./worker-info.ts";

/**
 * Most single dequeues that share a request. The script remembers larger batches in fewer slots, which are
 * overwritten sooner.
 */
const MAX_SHARED = 100;

/** Most script calls of one dequeue. Each skips about 200 entries that cannot be delivered. */
const MAX_CALLS = 50;

const OPTIONS = ["max", "lease", "maxBytes", "worker", "token", "wait", ...REQUEST_OPTIONS];

/** What a dequeue needs of its queue. */
export interface DequeueContext<Out> {
  readonly name: string;
  readonly keys: Keys;
  /** The partition that has these keys. */
  readonly partition: number;
  readonly transport: Transport;
  readonly values: ValuesQueue;
  readonly testNow: string;
  readonly schema: StandardSchemaV1<unknown, Out> | undefined;
  /** ms */
  readonly lease: number;
  readonly maxBytes: number;
  readonly settle: (settlements: readonly Settlement[]) => Promise<Settled[]>;
  readonly onDeadLetter: OnDeadLetter | undefined;
  readonly tracing: Tracing | undefined;
}

type DequeueReply = ReturnType<typeof dequeueScript.decode>;

/** The tasks that a request leased, and the token of their leases. */
interface LeasedRecords extends Pick<DequeueReply, "nextDueAt" | "paused"> {
  readonly tasks: readonly DequeueReply["tasks"][number][];
  readonly token: string;
}

/** One dequeue. Its first request may also settle tasks; if no task is there, it may wait for one. */
export class DequeueCall<Out> {
  readonly #queue: DequeueContext<Out>;
  readonly #requests: LeasingRequests;
  #firstCall: ScriptCall | undefined;
  /** ms */
  readonly #wait: number;
  readonly #args: Omit<Parameters<typeof callOf<typeof dequeueScript>>[2], "token" | "resend">;
  /** True if the token is the caller's, or derives from an idempotency key: any request may be a resend. */
  readonly #mayBeCopy: boolean;
  /** Undefined until a token is needed, unless the caller gave one. */
  #token: string | undefined;
  /** How many invalid tasks became dead letters. */
  #invalid = 0;

  /**
   * @param requests those of the dequeue, with its options
   * @throws {SluiceError} `invalid_argument`
   */
  static async of<Out>(queue: DequeueContext<Out>, requests: LeasingRequests): Promise<DequeueCall<Out>> {
    const { options } = requests;
    onlyOptions(options, OPTIONS);
    const key = requestKey(options);
    const token =
      options.token !== undefined
        ? leaseToken(options.token)
        : key !== undefined
          ? await derivedName("dequeue", queue.name, key)
          : undefined;
    return new DequeueCall(queue, requests, token);
  }

  private constructor(queue: DequeueContext<Out>, requests: LeasingRequests, token: string | undefined) {
    const { options } = requests;
    this.#queue = queue;
    this.#requests = requests;
    this.#token = token;
    this.#mayBeCopy = token !== undefined;
    this.#wait = waitMilliseconds(options.wait);
    this.#args = {
      testNow: queue.testNow,
      maxTasks: String(wholeNumber(options.max ?? 1, "max", 1, MAX_BATCH)),
      lease: String(
        options.lease === undefined ? queue.lease : milliseconds(options.lease, "lease", { min: 1 }),
      ),
      maxBytes: String(replyBytes(options.maxBytes ?? queue.maxBytes)),
      ...(options.worker === undefined ? { worker: "", info: "" } : workerArguments(options.worker)),
    };
  }

  /** The first script call. */
  get firstCall(): ScriptCall {
    return (this.#firstCall ??= this.#scriptCall(this.#wait === 0));
  }

  /** The first script call, if this dequeue is one of several: of other partitions, or while it waits. */
  callBefore(isLast: boolean): ScriptCall {
    return (this.#firstCall ??= this.#scriptCall(isLast));
  }

  /** The tasks of the first script call, without a wait. */
  async batchOf(reply: DequeueReply): Promise<Batch<Out>> {
    return this.toBatch(await this.#leased(this.firstCall, reply));
  }

  /**
   * The name of the pool in which dequeues share requests, see {@link dequeueFor}. Undefined if this dequeue
   * must have its own request.
   */
  get pool(): string | undefined {
    const { maxTasks, lease, maxBytes, worker, info } = this.#args;
    if (maxTasks !== "1" || this.#mayBeCopy || this.#wait > 0) return undefined;
    return `dequeue ${this.#queue.keys.tasks} ${lease} ${maxBytes} ${worker} ${info}`;
  }

  get #leaseToken(): string {
    return (this.#token ??= newToken());
  }

  /**
   * Completes the dequeue after its first script call: waits if no task was leased and `wait` is set.
   * @param reply of the first call
   */
  async finish(reply: DequeueReply): Promise<Batch<Out>> {
    const first = await this.batchOf(reply);
    if (first.length > 0 || this.#wait === 0) return first;
    const steps = { dequeue: (last: boolean) => this.#dequeueAgain(last), check: this.#check };
    return pollForTasks(first, this.#wait, steps, this.#requests.options.signal);
  }

  /**
   * Leases a task for each of several callers with equal options, and hands them out in order of the calls.
   * @param signal aborts when all of them have aborted
   */
  async dequeueFor(
    calls: readonly SharedCall<SharedDequeue, LeasedRecords>[],
    signal: AbortSignal | undefined,
  ): Promise<void> {
    const requests = this.#requests.shared(signal);
    for (const { item } of calls) item.noteSent();
    let [waiting, token] = [calls, this.#leaseToken];
    for (;;) {
      const call = this.#scriptCall(true, { token, maxTasks: String(waiting.length) });
      const reply = await this.#reply(call, requests);
      const { tasks, ...leased } = await this.#skipUndeliverable(call, token, reply, requests);
      // Callers that have aborted meanwhile get no task.
      waiting = waiting.filter(({ done }) => !done);
      for (const [i, task] of tasks.entries()) waiting[i]?.answer({ ...leased, tasks: [task] });
      requests.handBack(this.#receipts(tasks.slice(waiting.length), token));
      waiting = waiting.slice(tasks.length);
      // The batch may have ended at its limit of bytes, or at a task whose leases expired. Another call gets
      // the next.
      if (waiting.length > 0 && tasks[0] && leased.nextDueAt === this.#leasedAt(tasks[0])) {
        token = newToken();
        continue;
      }
      for (const call of waiting) call.answer({ ...leased, tasks: [] });
      return;
    }
  }

  /** Takes note that a request was sent which may lease a task for this dequeue. */
  noteSent(): void {
    this.#requests.isSent = true;
  }

  /**
   * Hands back what a reply has leased, because the caller gets an error instead. If the caller can send the dequeue
   * again, it gets the tasks then.
   */
  giveBack({ tasks }: DequeueReply): void {
    if (!this.#mayBeCopy) this.#requests.handBack(this.#receipts(tasks, this.#leaseToken));
  }

  #receipts(tasks: LeasedRecords["tasks"], token: string): { readonly receipt: string }[] {
    const { partition } = this.#queue;
    return tasks.map((task) => ({ receipt: writeReceipt({ ...task, token, partition }) }));
  }

  /**
   * A script call. Usually each call has its own token, and marks it as used. If the caller gave the token,
   * all calls of the dequeue have it, so that a resend of the dequeue gets the tasks that any of them leased.
   * Then only the last call marks it as used: a copy that arrives later leases no tasks, which would have no
   * holder.
   * @param last whether it is the last call of the dequeue
   */
  #scriptCall(
    last: boolean,
    shared: { readonly token?: string; readonly maxTasks?: string } = {},
  ): ScriptCall {
    const marksToken = last || !this.#mayBeCopy;
    const resend = marksToken && this.#mayBeCopy ? "1" : "";
    const args = { ...this.#args, token: this.#leaseToken, resend, ...shared };
    const call = callOf(dequeueScript, this.#queue.keys, args);
    if (!marksToken) return call;
    return { ...call, resendArgs: call.args.with(dequeueScript.args.indexOf("resend"), "1") };
  }

  async #dequeueAgain(last: boolean): Promise<Batch<Out>> {
    if (!this.#mayBeCopy) this.#token = newToken();
    return this.toBatch(await this.#run(this.#scriptCall(last)));
  }

  /** Checks the queue for a long poll, with cheaper commands than a dequeue. */
  readonly #check: LongPollSteps<Batch<Out>>["check"] = async ({ due, time }) => {
    const { pending, fair, delayed } = this.#queue.keys;
    const commands: Command[] = [["EXISTS", pending, fair]];
    if (due) commands.push(["ZRANGE", delayed, "0", "0", "WITHSCORES"]);
    if (time) commands.push(["TIME"]);
    const { signal } = this.#requests.options;
    const outcomes = await this.#queue.transport.send(commands, { signal });
    const replies = outcomes.map((_, i) => replyAt(outcomes, i));
    const hasPending = Number(replies[0]) > 0;
    const [, score] = (due ? replies[1] : []) as readonly string[];
    const [seconds, micros] = (time ? replies.at(-1) : []) as readonly string[];
    return {
      hasPending,
      dueAt: score === undefined ? null : Math.floor(Number(score)),
      now: seconds === undefined ? undefined : Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000),
    };
  };

  /** Sends a script call. */
  async #reply(call: ScriptCall, requests: LeasingRequests): Promise<DequeueReply> {
    return dequeueScript.decode(lastReply(await requests.over(this.#queue.transport).send([call])));
  }

  async #run(call: ScriptCall): Promise<LeasedRecords> {
    return this.#leased(call, await this.#reply(call, this.#requests));
  }

  /**
   * What a call has leased for the caller.
   * @throws {SluiceError} `aborted` if the caller has aborted the dequeue. What it has leased is then handed back
   */
  async #leased(call: ScriptCall, first: DequeueReply): Promise<LeasedRecords> {
    const leased = await this.#skipUndeliverable(call, this.#leaseToken, first, this.#requests);
    if (!this.#requests.isAbandoned) return leased;
    this.#requests.handBack(this.#receipts(leased.tasks, leased.token));
    throw abortedBySignal(true);
  }

  /**
   * Repeats a call as long as it finds only entries that cannot be delivered. Reports the dead letters of
   * each reply.
   */
  async #skipUndeliverable(
    call: ScriptCall,
    token: string,
    first: DequeueReply,
    requests: LeasingRequests,
  ): Promise<LeasedRecords> {
    let reply = this.#reported(first);
    for (let calls = 1; reply.more && calls < MAX_CALLS; calls++) {
      // The token is the same: if any copy of a call leases tasks, the others return the same tasks.
      const again: ScriptCall = { ...call, args: call.resendArgs ?? call.args };
      reply = this.#reported(await this.#reply(again, requests));
    }
    return { ...reply, token };
  }

  #reported(reply: DequeueReply): DequeueReply {
    const { onDeadLetter, name } = this.#queue;
    reportExpired(onDeadLetter, name, reply.deadLetters);
    return reply;
  }

  /** When a task was leased, by Redis's time, epoch ms. */
  #leasedAt({ deadlineAt, record }: LeasedRecords["tasks"][number]): number {
    return deadlineAt - (leaseOf(record) ?? Number(this.#args.lease));
  }

  /** The tasks as the caller gets them. If all of them are invalid, it dequeues again. */
  async toBatch(leased: LeasedRecords): Promise<Batch<Out>> {
    const dequeueAgain = async () => {
      this.#token = await nextToken(this.#queue.name, this.#leaseToken);
      return this.#raw(await this.#run(this.#scriptCall(this.#wait === 0)));
    };
    const { schema } = this.#queue;
    const batch = await decodeBatch(this.#queue, schema, this.#raw(leased), dequeueAgain);
    return Object.assign(batch, { invalid: (this.#invalid += batch.invalid) });
  }

  #raw({ nextDueAt, paused, tasks, token }: LeasedRecords): RawBatch {
    const leasedFor = Number(this.#args.lease);
    const { partition } = this.#queue;
    const readers = tasks.map(({ id, delivery, lease, deadlineAt, record }) => () => {
      const { enqueuedAt, lease: fixed, headers, group, payload } = readFixed(record);
      const receipt = writeReceipt({ id, delivery, lease, token, partition });
      return {
        id,
        receipt,
        payload,
        attempt: typeof delivery === "number" ? delivery : Number.parseInt(delivery, 10),
        enqueuedAt,
        deadlineAt,
        leasedFor: fixed ?? leasedFor,
        headers,
        group,
        bytes: record.length,
      };
    });
    return { readers, nextDueAt: nextDueAt || null, paused, maxBytes: Number(this.#args.maxBytes) };
  }
}

type SharedDequeue = Pick<DequeueCall<unknown>, "dequeueFor" | "noteSent">;

/** Dequeues of one task, which can share a request. */
export const singleDequeues: Shareable<SharedDequeue, LeasedRecords> = {
  most: MAX_SHARED,
  send: async (calls, signal) => calls[0]?.item.dequeueFor(calls, signal),
};
