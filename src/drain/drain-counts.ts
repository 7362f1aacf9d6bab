import type { Batch } from "../kernel/lease/leased-task.ts";
import type { Settled, Settlement } from "../kernel/options/types.ts";
import { isHandBack } from "./to-settlement.ts";
import type { DrainReport } from "./types.ts";

/** What became of deliveries. A task that is tried again counts again. */
export type OutcomeCounts = Omit<DrainReport, "ended" | "nextDueAt">;

/** The counts of two drains together. */
export function addCounts(first: OutcomeCounts, then: OutcomeCounts): OutcomeCounts {
  return {
    completed: first.completed + then.completed,
    requeued: first.requeued + then.requeued,
    rejected: first.rejected + then.rejected,
    handedBack: first.handedBack + then.handedBack,
    lost: first.lost + then.lost,
  };
}

/** Whether a drain that ended so may have left tasks that another drain can begin at once. */
export function isEarly(ended: DrainReport["ended"]): boolean {
  return ended === "budget" || ended === "requests";
}

/** What has become of a drain's tasks so far. */
export class DrainCounts {
  readonly #counts: { -readonly [K in keyof OutcomeCounts]: number } = {
    completed: 0,
    requeued: 0,
    rejected: 0,
    handedBack: 0,
    lost: 0,
  };
  /** When more tasks are due, epoch ms; null if none waits. */
  nextDueAt: number | null = null;
  /** When the pause of the queue ends, epoch ms; 0 if that is not known. */
  #pausedUntil = 0;

  lose(): void {
    this.#counts.lost++;
  }

  /** Takes over what a dequeue reports beside its tasks. Its invalid tasks are dead letters. */
  dequeued({ nextDueAt, invalid, paused }: Omit<Batch<unknown>, keyof unknown[]>): void {
    this.nextDueAt = nextDueAt;
    if (paused) this.#pausedUntil = nextDueAt ?? 0;
    this.#counts.rejected += invalid;
  }

  settled(reply: Settled, settlement: Settlement): void {
    if (!reply.ok) return this.lose();
    const { state, dueAt = Date.now() } = reply;
    if (state === "completed" || state === "rejected") {
      this.#counts[state]++;
    } else {
      this.#counts[isHandBack(settlement) ? "handedBack" : "requeued"]++;
      this.nextDueAt = Math.min(this.nextDueAt ?? dueAt, dueAt);
      if ("queue" in settlement) this.#pausedUntil = dueAt;
    }
  }

  /** @param maybeMore whether tasks are left, or may be */
  report(ended: DrainReport["ended"], maybeMore: boolean): DrainReport {
    const nextDueAt =
      ended === "paused" ? this.#pausedUntil || null : maybeMore ? Date.now() : this.nextDueAt;
    return { ...this.#counts, ended, nextDueAt };
  }
}
