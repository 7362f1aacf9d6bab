import { SluiceError } from "../../errors.ts";
import { byteLengths } from "../core/codec.ts";
import { type OnDeadLetter, reportSettled } from "../core/dead-letter.ts";
import type { Keys } from "../core/keys.ts";
import { MAX_BATCH, MAX_REQUEST_BYTES } from "../core/limits.ts";
import { all } from "../core/maybe-promise.ts";
import type { RequestOptions, Settled, Settlement } from "../core/types.ts";
import { callOf } from "../redis/binding.ts";
import type { Shareable } from "../redis/coalescer.ts";
import { lastReply } from "../redis/replies.ts";
import { settleScript } from "../redis/task-scripts.ts";
import type { ScriptCall, Transport } from "../redis/transport.ts";
import type { ValuesQueue } from "../values/encryption.ts";
import { firstRequeued } from "./first-due.ts";
import { encryptedArguments, readSettled, type SettlementArguments } from "./settle.ts";
import type { CheckedWaker } from "./waker.ts";

/** A settlement of one task, which can share a request. */
type SingleSettlement = SettlementArguments & Pick<Settlement, "receipt">;

/** What settling needs of its queue. */
interface SettlingQueue {
  readonly name: string;
  readonly keys: Keys;
  readonly transport: Transport;
  readonly values: ValuesQueue;
  readonly waker: CheckedWaker | undefined;
  readonly onDeadLetter: OnDeadLetter | undefined;
  readonly testNow: () => string;
  /** The token of one call, by which a resend of its progress is known. */
  readonly token: (options: RequestOptions) => Promise<string>;
}

/** The settlements of a queue: their calls, and what follows from their results. */
export class SettleCalls {
  readonly #queue: SettlingQueue;
  /** The calls for one task that may share a request with each other. */
  readonly pool: string;

  constructor(queue: SettlingQueue) {
    this.#queue = queue;
    this.pool = `settle ${queue.keys.tasks}`;
  }

  /**
   * One call of the script for all settlements.
   * @throws {SluiceError} `invalid_argument`, `too_large`
   */
  async callFor(settlements: readonly Settlement[], options: RequestOptions): Promise<ScriptCall> {
    const items = await all(settlements.map((settlement, i) => this.#item(settlement, i)));
    const bytes = byteLengths(
      items.map(({ text }) => text),
      MAX_REQUEST_BYTES,
    );
    if (items.length > 1 && bytes > MAX_REQUEST_BYTES) {
      throw new SluiceError(
        "too_large",
        `settlements have ${bytes} bytes; at most ${MAX_REQUEST_BYTES} are allowed`,
        "settlements",
      );
    }
    return this.#scriptCall(items, options);
  }

  /** The results of settlements, whose dead letters it reports. Arranges a wake for what was requeued. */
  async finish(
    settlements: readonly Settlement[],
    replies: ReturnType<typeof settleScript.decode>,
  ): Promise<Settled[]> {
    const settled = this.reported(settlements, readSettled(settlements, replies));
    await this.#wakeForDelayed(settled);
    return settled;
  }

  /** Reports the dead letters among settlements. */
  reported(settlements: readonly Settlement[], settled: Settled[]): Settled[] {
    reportSettled(this.#queue.onDeadLetter, this.#queue.name, settlements, settled);
    return settled;
  }

  /** The only settlement of a call, which can share a request. */
  async single(settlement: Settlement): Promise<SingleSettlement> {
    return { ...(await this.#item(settlement, 0)), receipt: settlement.receipt };
  }

  /** Settles of one task, which can share a request. */
  readonly singleSettles: Shareable<SingleSettlement, Settled> = {
    most: MAX_BATCH,
    text: ({ text }) => text,
    send: async (calls, signal) => {
      const items = calls.map(({ item }) => item);
      const call = await this.#scriptCall(items, {});
      const reply = lastReply(await this.#queue.transport.send([call], { signal }));
      const settled = readSettled(items, settleScript.decode(reply));
      await this.#wakeForDelayed(settled);
      for (const [i, result] of settled.entries()) calls[i]?.answer(result);
    },
  };

  #item(settlement: Settlement, i: number) {
    return encryptedArguments(this.#queue.values, settlement, `settlements[${i}]`);
  }

  async #scriptCall(items: readonly SettlementArguments[], options: RequestOptions): Promise<ScriptCall> {
    const { keys, testNow, token } = this.#queue;
    const hasProgress = items.some(({ terms, text }) => terms.startsWith("extend") && text !== "");
    const call = hasProgress ? await token(options) : "";
    return callOf(settleScript, keys, { testNow: testNow(), call }, items);
  }

  /** Arranges a wake for the first of the tasks that were requeued with a delay. */
  async #wakeForDelayed(settled: readonly Settled[]): Promise<void> {
    const { name, waker } = this.#queue;
    if (waker?.looksAhead(name)) await waker.wakeAt(name, firstRequeued(settled));
  }
}
