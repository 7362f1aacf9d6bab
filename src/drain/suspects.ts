import type { InFlightTask } from "./in-flight-task.ts";

/** From one look at another drain's suspect to the next, ms. */
const LOOK_AGAIN = 50;

/** How long a drain may last after its end, ms. */
const GRACE = 5_000;

/** The drain of this process that has a suspect, and when its claim ends at the latest: it may never return. */
let claim: { readonly by: Suspects; readonly until: number } | undefined;

/**
 * Keeps a drain's suspects alone. A suspect is a task of which a lease expired: it may be what killed its
 * process. While one runs, nothing else of its drain does, and no other suspect of its process. So another task
 * is there at most once when the process dies, because after that it is a suspect itself.
 */
export class Suspects {
  /** Whether the last dequeue that leased tasks leased a suspect. Then others are likely to follow. */
  #areLikely = false;
  /** Whether a suspect waits or runs. */
  #isHeld = false;
  /** Whether this drain handed a suspect back because another drain had one. */
  #isTurnedAway = false;
  /** When the drain is over, on the clock of `performance.now()`. */
  readonly #end: number;

  constructor(end: number) {
    this.#end = end;
  }

  /** Notes the tasks of a dequeue. Returns them with the suspects last, as the others need not wait for them. */
  dequeued<T>(tasks: InFlightTask<T>[]): InFlightTask<T>[] {
    if (tasks.length === 0) return tasks;
    const suspects = tasks.filter(({ isSuspect }) => isSuspect);
    this.#areLikely = suspects.length > 0;
    this.#isHeld ||= this.#areLikely;
    return this.#areLikely ? [...tasks.filter(({ isSuspect }) => !isSuspect), ...suspects] : tasks;
  }

  /** How many tasks to ask for, if `most` could begin. */
  atMost(most: number): number {
    return this.#areLikely ? 1 : most;
  }

  /** @param isDue whether a time has come */
  mayDequeue(isDue: (at: number) => boolean): boolean {
    if (this.#isTurnedAway && isClaimed()) isDue(performance.now() + LOOK_AGAIN);
    else this.#isTurnedAway = false;
    return !this.#isHeld && !this.#isTurnedAway;
  }

  /** Claims the process for the suspect that is next. False if another drain has it: it must be handed back. */
  claim(): boolean {
    this.#isTurnedAway = claim?.by !== this && isClaimed();
    if (!this.#isTurnedAway) claim = { by: this, until: this.#end + GRACE };
    return !this.#isTurnedAway;
  }

  /** @param isHeld whether a suspect still waits or runs; called only if one did */
  release(isHeld: () => boolean): void {
    if (!this.#isHeld || isHeld()) return;
    this.#isHeld = false;
    if (claim?.by === this) claim = undefined;
  }
}

function isClaimed(): boolean {
  return claim !== undefined && claim.until > performance.now();
}
