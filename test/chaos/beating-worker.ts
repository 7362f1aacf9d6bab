import { setTimeout as sleep } from "node:timers/promises";
import type { Part } from "./part.ts";
import { LEASE } from "./work.ts";

/** After how many heartbeats that tell of more leases than are held a worker begins anew. */
const STRAY_BEATS = 4;

/**
 * A worker whose heartbeats extend its leases. They also extend what a dequeue leased of which no answer came; of that the
 * worker learns by the number of leases that a heartbeat tells, and goes on under a new incarnation: the old one falls
 * silent, and its tasks go back.
 */
export class BeatingWorker {
  /** How many tasks are in hand. */
  held = 0;
  readonly #part: Part;
  readonly #queue: ReturnType<Part["queue"]>;
  #incarnations = 0;
  #strayBeats = 0;

  constructor(part: Part, queue: ReturnType<Part["queue"]>) {
    this.#part = part;
    this.#queue = queue;
  }

  /** As dequeue takes it. */
  get worker() {
    const [name = "", number] = this.#part.name.split(".");
    const incarnation = `${number}-${this.#incarnations}`;
    return { name, incarnation, pid: process.pid, silentAfter: LEASE * 1.5 };
  }

  /** Until the process is to end. */
  async beat(): Promise<void> {
    while (!this.#part.ending.aborted) {
      await sleep(LEASE / 3);
      try {
        const beat = await this.#queue.heartbeat(this.worker, { lease: LEASE });
        this.#strayBeats = beat.ok && beat.leases > this.held ? this.#strayBeats + 1 : 0;
      } catch (error) {
        this.#part.met(error);
      }
      if (this.#strayBeats === STRAY_BEATS) this.#beginAnew();
    }
  }

  #beginAnew(): void {
    this.#strayBeats = 0;
    this.#incarnations++;
    this.#part.ledger.write({ what: "renewed" });
  }
}
