import { dueTasks, nextDue, promote, reclaim } from "./due.ts";
import type { QueueState } from "./state.ts";

/** The entries of a queue's line, the next one first. Of those with one id, the first ones are its ghosts. */
export function entriesOf(queue: QueueState): { readonly id: string; readonly isGhost: boolean }[] {
  const met = new Map<string, number>();
  return queue.line.map((id) => {
    const nth = (met.get(id) ?? 0) + 1;
    met.set(id, nth);
    return { id, isGhost: nth <= queue.task(id).ghosts };
  });
}

/** The entries that a call has popped from the list to read them. */
export class Line {
  readonly entries: string[] = [];
  drained = false;
  /** When the next task is due; 0 if none is, undefined if it was not read. */
  asked: number | undefined;
  /** The tasks put in line after the call had checked if groups are in use. */
  unseen = false;
  readonly #queue: QueueState;
  readonly #now: number;
  #fetched = false;

  readonly #looks: boolean;

  /** @param looks whether the call looks for what is due if too few wait */
  constructor(queue: QueueState, now: number, looks: boolean) {
    this.#queue = queue;
    this.#now = now;
    this.#looks = looks;
  }

  /** Pops the next ones; if they are too few, due tasks are put in line first, once a call. */
  fetch(most: number): void {
    const first = this.entries.length;
    this.drained = this.#pop(most);
    const { events, statistics } = this.#queue.settings;
    const again = this.#fetched;
    const busy = again && (events || statistics);
    this.#fetched = true;
    if (this.drained && this.asked === undefined && !busy && this.bringDue(first, most)) {
      this.drained = this.#pop(most);
      this.unseen = again;
    }
  }

  putBack(first: number): void {
    const back = this.entries.splice(first);
    if (back.length > 0) this.drained = false;
    this.#queue.line.unshift(...back);
  }

  /** Puts due tasks in line. Returns whether there were any. */
  bringDue(first: number, most: number): boolean {
    if (!this.#looks) {
      this.asked = 0;
      return false;
    }
    const due = dueTasks(this.#queue, this.#now);
    if (due.expired || due.due) this.putBack(first);
    const limit = Math.max(most, 32);
    if (due.expired) reclaim(this.#queue, this.#now, limit);
    if (due.due) promote(this.#queue, this.#now, limit);
    this.asked = nextDue(this.#queue) ?? 0;
    return due.expired || due.due;
  }

  #pop(most: number): boolean {
    const popped = this.#queue.line.splice(0, most);
    this.entries.push(...popped);
    return popped.length < most;
  }
}
