/** Compares each call on the real queue with the model. */
import { isDeepStrictEqual } from "node:util";
import { messageOf } from "../../../../src/errors.ts";
import { slotOf } from "../../../../src/kernel/names/slots.ts";
import { owning, partitionsOf } from "../../../../src/features/partitions/map.ts";
import type { QueueCounts } from "../../../../src/index.ts";
import { countsByState } from "../reads.ts";
import { NAME } from "../real.ts";
import { infoOf } from "../state.ts";
import { dequeue, mustBeCopy, mustBeEmpty } from "./dequeue.ts";
import { enqueue } from "./enqueue.ts";
import type { Caller, Known } from "./instance.ts";
import { faultsOf, partitionNames } from "./observation.ts";
import type { PartitionedCall, Pull } from "./operations.ts";
import type { Happened, RealPartitions } from "./real.ts";
import { must, mustEqual, PartitionsState } from "./state.ts";

export class PartitionsWorld {
  readonly state: PartitionsState;

  constructor(now: number, isOrdered: boolean) {
    this.state = new PartitionsState(now, isOrdered);
  }

  pass(real: RealPartitions, ms: number): void {
    this.state.now += ms;
    real.now = this.state.now;
  }

  /** Makes a call, and compares its answer and the keys. @throws if they differ */
  async call(real: RealPartitions, call: PartitionedCall): Promise<unknown> {
    const { operation } = call;
    this.state.step++;
    const readBefore = { ...real.callerOf(call).known };
    const otherBefore =
      operation.does === "dequeueTwice" ? { ...real.instance(operation.other).known } : undefined;
    const happened = await real.run(call);
    const { answer, before, after } = happened;
    try {
      this.#compare(call, happened, readBefore, otherBefore);
      const found = [...faultsOf(before, after), ...this.state.differences(after)];
      must(found.length === 0, found.join("\n"));
    } catch (error) {
      const { map, scores } = happened.by.known;
      const context = { call, answer, knows: map?.text, scores: [...scores], registry: [...after.scores] };
      throw new Error(`${messageOf(error)}\nin ${JSON.stringify(context)}`, { cause: error });
    }
    return answer;
  }

  #compare(call: PartitionedCall, happened: Happened, readBefore: Known, otherBefore?: Known): void {
    const { state } = this;
    const { operation } = call;
    const { answer, before, after, by, other } = happened;
    const follow = () => state.follow(after, false);
    switch (operation.does) {
      case "enqueue":
        return enqueue(state, operation.tasks, operation.key, answer, after, readBefore.map);
      case "dequeue":
        return this.#dequeue(operation.pull, answer, { by, readBefore, before }, follow);
      case "dequeueTwice": {
        const [first, copy] = answer as [unknown[], { id: string; receipt: string }[]];
        const isSame = this.#seesAll(by, readBefore) && this.#seesAll(other as Caller, otherBefore);
        this.#dequeue(operation.pull, first, { by, readBefore, before }, () => {});
        if (isSame) mustBeCopy(first, copy);
        else {
          const had = new Set(state.receipts);
          const more = copy.filter(({ receipt }) => !had.has(receipt));
          if (more.length > 0) dequeue(state, operation.pull, more, follow);
        }
        return follow();
      }
      case "settle": {
        const first = state.settle(operation.items);
        // Of two leases of one task, a copy of the call remembers only the later one (law 5).
        const copy = state.settle(operation.items);
        const compare = (given: unknown) => {
          const isCopy = call.mishap !== "none" && isDeepStrictEqual(given, copy);
          if (!isCopy) mustEqual("settle", given, first);
        };
        if (!operation.pull) return compare(answer);
        const { settled: given, tasks } = answer as { settled: unknown; tasks: unknown };
        compare(given);
        state.step++;
        // If Redis does not know the settle, the commands behind it run first: they may find nothing.
        const isEmpty = (tasks as unknown[]).length === 0;
        if (isEmpty && call.mishap === "scripts forgotten") return follow();
        return this.#dequeue(operation.pull, tasks, { by, readBefore, before }, follow);
      }
      case "cancel":
      case "get":
        return this.#one(operation, answer);
      case "counts":
        return this.#counts(answer);
      case "sweep":
        return this.#sweep(answer, happened);
      case "resize":
        return this.#resize(call, happened);
    }
  }

  #dequeue(
    pull: Pull,
    answer: unknown,
    { by, readBefore, before }: Pick<Happened, "by" | "before"> & { readonly readBefore: Known },
    follow: () => void,
  ): void {
    if (Array.isArray(answer) && answer.length === 0) mustBeEmpty(this.state, by, readBefore.scores, before);
    dequeue(this.state, pull, answer, follow);
  }

  /** Whether an instance knew, before and after a call, of all partitions with ready tasks that they have work. */
  #seesAll({ known }: Caller, readBefore: Known | undefined): boolean {
    const maps = [readBefore?.map ?? known.map, known.map];
    const partitions = maps.map((map) => (map ? partitionsOf(map) : [0]));
    return [...this.state.tasks.values()].every((task) => {
      if (!this.state.isReady(task)) return true;
      const partition = this.state.partitions.get(task.id) as number;
      const score = readBefore?.scores.get(partitionNames[partition] as string);
      // What it has read may be a second old.
      const isIdle = score !== undefined && (score <= 0 || score > this.state.now - 1_000);
      return partitions.every((all) => all.includes(partition)) && !isIdle;
    });
  }

  #one({ does, id }: { does: "cancel" | "get"; id: string }, answer: unknown): void {
    const { state } = this;
    mustEqual(`${does} of ${id}`, answer, does === "cancel" ? state.cancel(id) : infoOf(state, NAME, id));
  }

  #counts(answer: unknown): void {
    const { pending, delayed, blocked, working, rejected } = answer as QueueCounts;
    mustEqual("counts", { pending, delayed, blocked, working, rejected }, countsByState(this.state));
  }

  /** After a sweep nothing is due. Ended records may stay for longer. */
  #sweep(answer: unknown, { after }: Happened): void {
    const { state } = this;
    mustEqual("failed queues", (answer as { failed: unknown }).failed, []);
    state.follow(after, true);
    for (const task of state.live()) {
      const until = state.until(task);
      const isDue = task.state !== "pending" && until <= state.now;
      must(!isDue, `${task.id} was due at ${until}, and is ${task.state} after the sweep`);
    }
  }

  #resize({ operation, meanwhile }: PartitionedCall, { answer, after }: Happened): void {
    if (operation.does !== "resize" || answer === "stopped" || meanwhile) return;
    const { map } = after;
    // It waits while a group waits for a partition that does not own its slot.
    if (this.state.isOrdered && map.isPreparing) return;
    must(map.next === undefined, "a resize stopped that need not wait");
    const count = map.version === 0 ? 1 : operation.count;
    mustEqual(
      "the partitions after a resize",
      owning(map),
      Array.from({ length: count }, (_, i) => i),
    );
    mustEqual("the owners of slots", after.owners, map.version === 0 ? after.owners : map.owners);
    must(slotOf("123456789") === 195, "the slots are not CRC-16");
  }
}
