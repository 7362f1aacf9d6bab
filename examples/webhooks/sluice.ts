import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";

/** A task as a pull gives it. */
export interface PulledTask<T> {
  readonly id: string;
  /** Proof of the lease: who shows it may settle the task. */
  readonly receipt: string;
  readonly payload: T;
  /** The how-manyth delivery to a consumer this is, from 1. */
  readonly attempt: number;
}

export type Settlement =
  | { readonly receipt: string; readonly outcome: "complete" }
  | { readonly receipt: string; readonly outcome: "reject"; readonly error: string }
  | { readonly receipt: string; readonly outcome: "requeue"; readonly error: string; readonly delay: number };

export interface NewTask<T> {
  readonly id: string;
  readonly payload: T;
  readonly delay?: string;
  readonly lease: string;
  readonly maxAttempts: number;
  readonly deadTtl: string;
}

export interface Counts {
  readonly pending: number;
  readonly delayed: number;
  readonly working: number;
  readonly rejected: number;
}

/** What came back was no success. */
export class SluiceRefusal extends Error {
  override readonly name = "SluiceRefusal";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** One queue over HTTP: as much of the interface as this example uses. */
export class SluiceQueue<T> {
  readonly #url: string;
  readonly #token: string;

  /** @param url of the Worker, such as `http://127.0.0.1:8787` */
  constructor(url: string, token: string, queue: string) {
    this.#url = `${url}/v1/queues/${queue}`;
    this.#token = token;
  }

  /** @returns for each task whether it is new */
  async enqueue(tasks: readonly NewTask<T>[]): Promise<boolean[]> {
    const [only] = tasks;
    if (only && tasks.length === 1) {
      const { created } = (await this.#call("POST", "/tasks", only)) as { created: boolean };
      return [created];
    }
    const reply = (await this.#call("POST", "/tasks", { tasks })) as { tasks: { created: boolean }[] };
    return reply.tasks.map(({ created }) => created);
  }

  /** Settles one batch and pulls the next, in one request. */
  async settleAndPull(
    settlements: readonly Settlement[],
    max: number,
  ): Promise<{ tasks: PulledTask<T>[]; nextDueAt: number | null }> {
    const reply = await this.#call("POST", "/tasks/settle", { settlements, pull: { max } });
    return (reply as { pull: { tasks: PulledTask<T>[]; nextDueAt: number | null } }).pull;
  }

  async settle(settlements: readonly Settlement[]): Promise<void> {
    await this.#call("POST", "/tasks/settle", { settlements });
  }

  /** @returns undefined where there is no such task (any more) */
  async state(id: string): Promise<{ state: string; reason?: string } | undefined> {
    try {
      return (await this.#call("GET", `/tasks/${encodeURIComponent(id)}`)) as {
        state: string;
        reason?: string;
      };
    } catch (error) {
      if (error instanceof SluiceRefusal && error.status === 404) return undefined;
      throw error;
    }
  }

  async counts(): Promise<Counts> {
    return (await this.#call("GET", "")) as Counts;
  }

  /** Resends what was not answered: with the same Idempotency-Key that has no second effect. */
  async #call(method: string, path: string, body?: unknown): Promise<unknown> {
    const headers = {
      authorization: `Bearer ${this.#token}`,
      ...(body !== undefined && { "content-type": "application/json", "idempotency-key": randomUUID() }),
    };
    for (let tries = 1; ; tries++) {
      try {
        const response = await fetch(this.#url + path, {
          method,
          headers,
          body: JSON.stringify(body) ?? null,
          signal: AbortSignal.timeout(10_000),
        });
        if (response.ok) return await response.json();
        throw new SluiceRefusal(
          response.status,
          `${method} ${path}: ${response.status} ${await response.text()}`,
        );
      } catch (error) {
        const final = error instanceof SluiceRefusal && error.status < 500 && error.status !== 429;
        if (final || tries === 5) throw error;
        await sleep(Math.random() * 100 * 2 ** tries);
      }
    }
  }
}
