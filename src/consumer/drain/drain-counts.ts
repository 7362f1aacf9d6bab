import type { Batch } from "../../queue/tasks/leased-task.ts";
import type { Settled } from "../../queue/core/types.ts";
import type { DrainReport } from "./types.ts";

type Counts = Omit<DrainReport, "ended" | "nextDueAt">;

/** What has become of the tasks so far. */
export class DrainCounts {
  readonly #counts: { -readonly [K in keyof Counts]: number } = {
    completed: 0,
    requeued: 0,
    rejected: 0,
    handedBack: 0,
    lost: 0,
  };
  /** When there is more, epoch ms; null where nothing waits. */
  nextDueAt: number | null = null;

  lose(): void {
    this.#counts.lost++;
  }

  /** What a pull tells, beside its tasks: those that no handler saw are dead letters. */
  pulled({ nextDueAt, invalid }: Pick<Batch<unknown>, "nextDueAt" | "invalid">): void {
    this.nextDueAt = nextDueAt;
    this.#counts.rejected += invalid;
  }

  settled(answer: Settled, unstarted: boolean): void {
    if (!answer.ok) return this.lose();
    const { state, dueAt = Date.now() } = answer;
    if (state === "completed" || state === "rejected") {
      this.#counts[state]++;
    } else {
      this.#counts[unstarted ? "handedBack" : "requeued"]++;
      this.nextDueAt = Math.min(this.nextDueAt ?? dueAt, dueAt);
    }
  }

  /** @param more whether something is left, or may be */
  report(ended: DrainReport["ended"], more: boolean): DrainReport {
    const nextDueAt = ended === "paused" ? null : more ? Date.now() : this.nextDueAt;
    return { ...this.#counts, ended, nextDueAt };
  }
}
