import { SluiceError } from "../../errors.ts";
import { byteLengths } from "../core/codec.ts";
import { type OnDeadLetter, reportSettled } from "../core/dead-letter.ts";
import { MAX_BATCH, MAX_REQUEST_BYTES } from "../core/limits.ts";
import { all } from "../core/maybe-promise.ts";
import { groupedBy } from "../core/slices.ts";
import type { RequestOptions, Settled, Settlement } from "../core/types.ts";
import { callOf } from "../redis/binding.ts";
import type { Shareable } from "../redis/coalescer.ts";
import { replyAt } from "../redis/replies.ts";
import type { Keys } from "../core/keys.ts";
import { registration, sendNoted } from "./registration.ts";
import { settleScript } from "../redis/task-scripts.ts";
import type { CommandOutcome, ScriptCall, SendOptions, Transport } from "../redis/transport.ts";
import type { ValuesQueue } from "../values/encryption.ts";
import { firstRequeued } from "./first-due.ts";
import { encryptedArguments, readSettled, type SettlementArguments } from "./settle.ts";
import type { CheckedWaker } from "./waker.ts";

/** A settlement of one task, which can share a request. */
type SingleSettlement = SettlementArguments & Pick<Settlement, "receipt">;

/** The calls of one settle: for each partition its settlements, by their places. */
export type SettleParts = readonly {
  readonly partition: number;
  readonly places: readonly number[];
  readonly call: ScriptCall;
}[];

type SettleReplies = ReturnType<typeof settleScript.decode>;

/**
 * The replies to all settlements of a settle, in their order.
 * @param outcomes those of its calls, in their order
 * @throws {SluiceError} the error of the first call that failed
 */
export function settledReplies(parts: SettleParts, outcomes: readonly CommandOutcome[]): SettleReplies {
  const replies: SettleReplies = [];
  for (const [i, { places }] of parts.entries()) {
    const own = settleScript.decode(replyAt(outcomes, i));
    for (const [j, place] of places.entries()) if (own[j]) replies[place] = own[j];
  }
  return replies;
}

/** What settling needs of its queue. */
interface SettlingQueue {
  readonly name: string;
  readonly keysOf: (partition: number) => Keys;
  /** As the registry has a partition. */
  readonly nameOf: (partition: number) => string;
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
    this.pool = `settle ${queue.keysOf(0).tasks}`;
  }

  /**
   * The calls of the script for all settlements, one for each partition.
   * @throws {SluiceError} `invalid_argument`, `too_large`
   */
  async callsFor(settlements: readonly Settlement[], options: RequestOptions): Promise<SettleParts> {
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
    return this.#parts(items, options);
  }

  /** Sends the calls of one settle, in one request. @returns the replies to all settlements, in their order */
  async send(parts: SettleParts, options: SendOptions): Promise<SettleReplies> {
    const notes = this.notesFor(parts);
    const calls = parts.map(({ call }) => call);
    const { noted, outcomes } = await sendNoted(
      this.#queue.transport,
      notes.map(({ command }) => command),
      calls,
      options,
    );
    for (const [i, note] of notes.entries()) if (noted[i]) note.done();
    return settledReplies(parts, outcomes);
  }

  /** The notes that go before a settle which makes tasks of partitions pending or delayed again. */
  notesFor(parts: SettleParts): ReturnType<typeof registration>[] {
    const { name, keysOf, nameOf, transport, testNow } = this.#queue;
    return parts.flatMap(({ partition, call }) => {
      // A queue without partitions stays registered while it has tasks.
      if (nameOf(partition) === name) return [];
      if (!call.args.some((text) => text.startsWith("requeue ") || text === "unstarted")) return [];
      const note = registration(transport, keysOf(partition), nameOf(partition), testNow());
      return note.command ? [note] : [];
    });
  }

  /** The results of settlements, whose dead letters it reports. Arranges a wake for what was requeued. */
  async finish(settlements: readonly Settlement[], replies: SettleReplies): Promise<Settled[]> {
    const settled = this.reported(settlements, readSettled(settlements, replies));
    await this.#wakeForDelayed(settled);
    await this.removeObjects(settlements, settled);
    return settled;
  }

  /** Removes the objects of tasks that have ended. Without `offload` it returns no promise. */
  removeObjects(settlements: readonly Settlement[], settled: readonly Settled[]): Promise<void> | undefined {
    return this.#queue.values.offload?.settled(settlements, settled);
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
      const parts = await this.#parts(items, {});
      const settled = readSettled(items, await this.send(parts, { signal }));
      await this.#wakeForDelayed(settled);
      for (const [i, result] of settled.entries()) calls[i]?.answer(result);
    },
  };

  #item(settlement: Settlement, i: number) {
    return encryptedArguments(this.#queue.values, settlement, `settlements[${i}]`);
  }

  async #parts(items: readonly SettlementArguments[], options: RequestOptions): Promise<SettleParts> {
    const { keysOf, testNow, token } = this.#queue;
    const hasProgress = items.some(({ terms, text }) => terms.startsWith("extend") && text !== "");
    const args = { testNow: testNow(), call: hasProgress ? await token(options) : "" };
    const first = items[0]?.partition ?? 0;
    const places = items.map((_, i) => i);
    // As a rule all are in one partition.
    const groups = items.every(({ partition }) => partition === first)
      ? new Map([[first, places]])
      : groupedBy(places, (i) => items[i]?.partition ?? 0);
    return Array.from(groups, ([partition, own]) => ({
      partition,
      places: own,
      call: callOf(
        settleScript,
        keysOf(partition),
        args,
        own.length === items.length ? items : own.map((i) => items[i] as SettlementArguments),
      ),
    }));
  }

  /** Arranges a wake for the first of the tasks that were requeued with a delay. */
  async #wakeForDelayed(settled: readonly Settled[]): Promise<void> {
    const { name, waker } = this.#queue;
    if (waker?.looksAhead(name)) await waker.wakeAt(name, firstRequeued(settled));
  }
}
