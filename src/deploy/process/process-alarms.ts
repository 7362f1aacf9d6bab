import type { AlarmKind, Alarms } from "../alarms.ts";

/**
 * The shortest time to an alarm, ms. So tasks that fall due one after the other are taken together, and a clock
 * that is wrong does not make the process ask Redis without pause.
 */
const SHORTEST_TIMER = 250;

/** Most alarms at a time. What falls due in further queues waits for the next sweep. */
const MAX_ALARMS = 5_000;

export interface ProcessAlarmsOptions {
  /** Alarms later than this, ms, are not set: a sweep before then sets them. */
  readonly horizon: number;
  readonly ring: (kind: AlarmKind, queue: string) => void;
}

/** The alarms of a long-running process: timers. */
export class ProcessAlarms implements Alarms {
  readonly #options: ProcessAlarmsOptions;
  /** By kind and queue. `ringsAt` is on the clock of `performance.now()`. */
  readonly #alarms = new Map<
    string,
    { readonly ringsAt: number; readonly timer: ReturnType<typeof setTimeout> }
  >();
  #closed = false;

  constructor(options: ProcessAlarmsOptions) {
    this.#options = options;
  }

  set(kind: AlarmKind, queue: string, after: number): void {
    const { horizon, ring } = this.#options;
    const wait = Math.max(after, SHORTEST_TIMER);
    if (this.#closed || !(wait <= horizon)) return;
    const name = `${kind} ${queue}`;
    const ringsAt = performance.now() + wait;
    const earlier = this.#alarms.get(name);
    if (earlier ? earlier.ringsAt <= ringsAt : this.#alarms.size >= MAX_ALARMS) return;
    clearTimeout(earlier?.timer);
    const timer = setTimeout(() => {
      this.#alarms.delete(name);
      ring(kind, queue);
    }, wait);
    this.#alarms.set(name, { ringsAt, timer });
  }

  /** The time until the next alarm rings, ms; undefined if none is set. */
  get next(): number | undefined {
    if (this.#alarms.size === 0) return undefined;
    const first = Math.min(...Array.from(this.#alarms.values(), ({ ringsAt }) => ringsAt));
    return Math.max(first - performance.now(), 0);
  }

  /** Removes all alarms, and sets none from now on. */
  close(): void {
    this.#closed = true;
    for (const { timer } of this.#alarms.values()) clearTimeout(timer);
    this.#alarms.clear();
  }
}
