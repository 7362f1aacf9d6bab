import type { StandardSchemaV1 } from "@standard-schema/spec";
import { callOf } from "./binding.ts";
import { milliseconds } from "./duration.ts";
import { fittingTasks, tokenOfNext } from "./fitting-tasks.ts";
import { derivedName, newToken } from "./identity.ts";
import type { Keys } from "./keys.ts";
import { type LongPollSteps, pollUntilSome, waitOf } from "./long-poll.ts";
import { leaseToken, onlyOptions, replyBytes, REQUEST_OPTIONS, requestKey, wholeNumber } from "./names.ts";
import { lastReply, replyAt } from "./outcome.ts";
import type { Batch } from "./queue.ts";
import { writeReceipt } from "./receipt.ts";
import { readFixed } from "./record.ts";
import type { ValuesQueue } from "./sealing.ts";
import { dequeueScript } from "./scripts.ts";
import type { Command, ScriptCall, Transport } from "./transport.ts";
import type { DequeueOptions, Settled, Settlement } from "./types.ts";
import { signOfLife } from "./worker.ts";

/** Most tasks of one dequeue, and most settlements of one settle. */
export const MAX_DEQUEUE = 1_000;

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

/** One dequeue: its first request may be shared with a settle, and where nothing was there it may go on to wait. */
export class Pull<Out> {
  readonly #queue: PullQueue<Out>;
  readonly #options: DequeueOptions;
  readonly #wait: number;
  readonly #args: Omit<Parameters<typeof callOf<typeof dequeueScript>>[2], "token" | "resend">;
  /** With a token of the caller's, a call may be a copy even at its first sending. */
  readonly #mayBeCopy: boolean;
  #token: string;
  /** What all its calls together made dead letters of. */
  #unfit = 0;

  /** @throws {SluiceError} `invalid_argument` */
  static async of<Out>(queue: PullQueue<Out>, options: DequeueOptions): Promise<Pull<Out>> {
    onlyOptions(options, OPTIONS);
    const key = requestKey(options);
    const token =
      options.token !== undefined
        ? leaseToken(options.token)
        : key !== undefined
          ? await derivedName("dequeue", queue.name, key)
          : newToken();
    return new Pull(queue, options, token, options.token !== undefined || key !== undefined);
  }

  private constructor(queue: PullQueue<Out>, options: DequeueOptions, token: string, mayBeCopy: boolean) {
    this.#queue = queue;
    this.#options = options;
    this.#token = token;
    this.#mayBeCopy = mayBeCopy;
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
    return this.#call(this.#wait === 0);
  }

  /** What the first call gave, and what came of it. */
  async answer(dequeued: ReturnType<typeof dequeueScript.decode>): Promise<Batch<Out>> {
    const first = await this.#read(this.call, dequeued);
    if (first.length > 0 || this.#wait === 0) return first;
    const steps = { pull: (last: boolean) => this.#pull(last), look: this.#look };
    return pollUntilSome(first, this.#wait, steps, this.#options.signal);
  }

  /**
   * With a token of the caller's, all calls of one pull have that one, so that whoever resends the pull gets what any of
   * them leased. Only the last marks it as spent: then no late copy leases tasks that nobody would hold. Without, each call
   * has its own, and sees to its own late copies.
   */
  #call(lastOfPull: boolean): ScriptCall {
    const last = lastOfPull || !this.#mayBeCopy;
    const args = { ...this.#args, token: this.#token, resend: last && this.#mayBeCopy ? "1" : "" };
    const call = callOf(dequeueScript, this.#queue.keys, args);
    return last
      ? { ...call, resendArgs: callOf(dequeueScript, this.#queue.keys, { ...args, resend: "1" }).args }
      : call;
  }

  async #pull(last: boolean): Promise<Batch<Out>> {
    if (!this.#mayBeCopy) this.#token = newToken();
    return this.#run(this.#call(last));
  }

  readonly #look: LongPollSteps<Batch<Out>>["look"] = async ({ due, time }) => {
    const { pending, fair, delayed } = this.#queue.keys;
    const commands: Command[] = [["EXISTS", pending, fair]];
    if (due) commands.push(["ZRANGE", delayed, "0", "0", "WITHSCORES"]);
    if (time) commands.push(["TIME"]);
    const outcomes = await this.#send(commands);
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

  #send(commands: readonly Command[]) {
    return this.#queue.transport.send(commands, { signal: this.#options.signal });
  }

  async #run(call: ScriptCall, round = 0): Promise<Batch<Out>> {
    return this.#read(call, dequeueScript.decode(lastReply(await this.#send([call]))), round);
  }

  async #read(
    call: ScriptCall,
    first: ReturnType<typeof dequeueScript.decode>,
    round = 0,
  ): Promise<Batch<Out>> {
    let answer = first;
    // Under the same token, so whichever copy of a call leases something, the others get the same.
    const again: ScriptCall = { ...call, args: call.resendArgs ?? call.args };
    for (let calls = 1; answer.more && calls < MOST_CALLS; calls++) {
      answer = dequeueScript.decode(lastReply(await this.#send([again])));
    }
    const { nextDueAt, paused, tasks } = answer;
    const { schema } = this.#queue;
    const readers = tasks.map(({ id, attempt, lease, deadlineAt, record }) => () => {
      const { enqueuedAt, lease: fixed, headers, group, payload } = readFixed(record);
      const receipt = writeReceipt({ id, attempt, lease, token: this.#token });
      const lasts = { enqueuedAt, deadlineAt, leasedFor: fixed ?? Number(this.#args.lease) };
      return { id, receipt, payload, attempt, ...lasts, headers, group };
    });
    const fitting = await fittingTasks(this.#queue, schema, readers);
    const { tasks: leased, allMisfits, unreadable } = fitting;
    this.#unfit += fitting.unfit;
    // Its lease expires, until it is a dead letter.
    if (unreadable !== undefined && leased.length === 0) throw unreadable;
    const next = allMisfits ? await tokenOfNext(this.#queue.name, this.#token, round) : undefined;
    if (next !== undefined) {
      this.#token = next;
      return this.#run(this.#call(this.#wait === 0), round + 1);
    }
    return Object.assign(leased, { nextDueAt: nextDueAt || null, paused, unfit: this.#unfit });
  }
}
