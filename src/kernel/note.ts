/** Notes in the registry that queues are in use: a sweep finds only the tasks of registered queues. */
import type { Keys } from "./names/keys.ts";
import { callOf } from "./scripts/binding.ts";
import { InstanceMemory } from "./instance-memory.ts";
import { registerScript } from "./scripts/sweep-scripts.ts";
import type { ScriptCall, Transport } from "./transport.ts";
import { type QueueRef, testNowOf } from "./queue-ref.ts";

/** How often one function instance notes a queue as in use, ms. */
const NOTE_EVERY = 60_000;

/** When this instance last noted a queue as in use, and whether its enqueues must read the queue's settings. */
interface Remembered {
  readonly at: number;
  readonly mustReadSettings: boolean;
  /** Whether the queue has refused plain tasks since then. */
  readonly refusesPlain: boolean;
}

const remembered = new InstanceMemory<Remembered>();

/**
 * The note that a queue is in use. It goes in front of a call in the same request, at most once a minute and function
 * instance. The instance's clock decides only how often. An enqueue with the note also reads the queue's settings. The
 * enqueues after it read them only if the queue has settings that concern enqueues. So other queues pay once a minute.
 */
export class Note {
  /** As the registry has the queue. */
  readonly name: string;
  readonly keys: Keys;
  /** Whether this instance has not noted the queue in the last minute. */
  readonly isDue: boolean;
  readonly #queue: QueueRef;
  readonly #at: number;
  /** What this instance knew before. */
  readonly #mustReadSettings: boolean;
  #refusesPlain: boolean;
  #isWritten = false;

  constructor(queue: QueueRef, keys: Keys, name: string) {
    this.#queue = queue;
    this.keys = keys;
    this.name = name;
    const now = Date.now();
    const last = remembered.get(queue.transport, keys.tasks);
    const age = last ? now - last.at : -1;
    this.isDue = !(age >= 0 && age < NOTE_EVERY);
    this.#at = last && !this.isDue ? last.at : now;
    this.#mustReadSettings = last?.mustReadSettings ?? false;
    this.#refusesPlain = this.#mustReadSettings || (!this.isDue && last?.refusesPlain === true);
  }

  /** Whether to add plain tasks by the script `enqueue-plain`. */
  get mayTakePlain(): boolean {
    return !this.#refusesPlain;
  }

  /** Remembers that the queue has refused plain tasks, because it has settings, until the next note. */
  refusePlain(): void {
    this.#refusesPlain = true;
    if (!this.isDue || this.#isWritten) this.#remember(this.#mustReadSettings);
  }

  /** Whether an enqueue must read the queue's settings. */
  get mustReadSettings(): boolean {
    return this.isDue || this.#mustReadSettings;
  }

  get testNow(): string {
    return testNowOf(this.#queue);
  }

  /** To be called once the registry has the note. */
  written(): void {
    this.#isWritten = true;
    this.#remember(this.#mustReadSettings);
  }

  /**
   * Remembers whether enqueues must read the queue's settings, unless the registry lacks the note.
   * @param mustReadSettings undefined if the call has not read them
   */
  learn(mustReadSettings: boolean | undefined): void {
    if (mustReadSettings !== undefined && (!this.isDue || this.#isWritten)) this.#remember(mustReadSettings);
  }

  #remember(mustReadSettings: boolean): void {
    remembered.set(this.#queue.transport, this.keys.tasks, {
      at: this.#at,
      mustReadSettings,
      refusesPlain: this.#refusesPlain,
    });
  }
}

/** Makes this instance note the queue again at its next enqueue, because the queue has left the registry. */
export function forgetNote(transport: Transport, keys: Pick<Keys, "tasks">): void {
  remembered.delete(transport, keys.tasks);
}

/** The call that notes queues in the registry. */
export function registerCall(
  keys: Pick<Keys, "queues">,
  names: readonly string[],
  testNow: string,
): ScriptCall {
  return callOf(
    registerScript,
    keys,
    { testNow },
    names.map((queue) => ({ queue })),
  );
}
