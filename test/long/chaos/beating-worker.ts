import { setTimeout as sleep } from "node:timers/promises";
import type { RunProcess } from "./run-process.ts";
import { LEASE } from "./work.ts";

/** A worker whose heartbeats extend the leases of the tasks that it works on. */
export class BeatingWorker {
  /** Of the tasks under way. A lease from a dequeue without an answer is not among them and has to expire. */
  readonly receipts = new Set<string>();
  readonly #runProcess: RunProcess;
  readonly #queue: ReturnType<RunProcess["queue"]>;

  constructor(runProcess: RunProcess, queue: ReturnType<RunProcess["queue"]>) {
    this.#runProcess = runProcess;
    this.#queue = queue;
  }

  /** The worker, in the form that dequeue takes. */
  get worker() {
    const [name = "", incarnation] = this.#runProcess.name.split(".");
    return { name, incarnation, pid: process.pid, silentAfter: LEASE * 1.5 };
  }

  /** Sends heartbeats until the process has to end. */
  async beat(): Promise<void> {
    while (!this.#runProcess.ending.aborted) {
      await sleep(LEASE / 3);
      // Written down as other calls are: a heartbeat that is lost or late extends no lease.
      const { ledger } = this.#runProcess;
      const call = ledger.nextCall();
      ledger.write({ what: "ask", call, queue: this.#queue.name, settle: [], pull: false, wait: false });
      try {
        await this.#queue.heartbeat(this.worker, { lease: LEASE, receipts: [...this.receipts] });
        ledger.write({ what: "answer", call, settled: [], receipts: [] });
      } catch (error) {
        this.#runProcess.met(error, call);
      }
    }
  }
}
