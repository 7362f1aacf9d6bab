import { setImmediate as turn } from "node:timers/promises";
import { afterEach, beforeAll, beforeEach, vi } from "vitest";
import type { CommandOutcome, Transport } from "../../src/kernel/transport.ts";
import { loadedOnDemand } from "./loaded-on-demand.ts";
import { type Rig, START } from "./rig.ts";

/**
 * How many turns of the event loop pass without a request before the clock goes on: what a reply or a timer has led to
 * has then been done.
 */
const QUIET = 10;

/**
 * Time that passes only while the process has nothing else to do: the clock goes on to the next timer once no request is
 * under way. So a wait takes no time, and what a test sees does not depend on the speed of the machine.
 */
export class SimulatedTime {
  /** Epoch ms. A test may set it: then the time has passed without a turn of the event loop. */
  now = START;
  /** How long a request takes, ms. */
  roundTrip = 0;
  readonly #timers = new Map<object, { readonly at: number; readonly ring: () => void }>();
  readonly #pending = new Set<Promise<unknown>>();
  /** Which of the tests it is; none at 0. */
  #test = 0;
  #tests = 0;
  #changed = () => {};

  /** Replaces the timers and clocks of this process. */
  begin(): void {
    this.now = START;
    this.roundTrip = 0;
    this.#test = ++this.#tests;
    const setTimeout = (call: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) => {
      const timer = { ref: () => timer, unref: () => timer };
      this.#timers.set(timer, { at: this.now + Math.max(1, ms), ring: () => call(...args) });
      this.#changed();
      return timer;
    };
    vi.stubGlobal("setTimeout", setTimeout);
    vi.stubGlobal("clearTimeout", (timer: object) => this.#timers.delete(timer));
    vi.spyOn(Date, "now").mockImplementation(() => this.now);
    vi.spyOn(performance, "now").mockImplementation(() => this.now - START);
    // Done beside the event loop.
    for (const name of ["importKey", "sign", "verify", "digest", "encrypt", "decrypt"] as const) {
      const real = crypto.subtle[name].bind(crypto.subtle) as (...args: unknown[]) => Promise<never>;
      vi.spyOn(crypto.subtle, name).mockImplementation((...args: unknown[]) => this.during(real(...args)));
    }
    void this.#run(this.#test);
  }

  end(): void {
    this.#test = 0;
    this.#timers.clear();
    this.#changed();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }

  /** The same transport, during whose requests no time passes but a round trip, to a Redis with this clock. */
  through({ send, ...transport }: Transport): Transport {
    const exchange: typeof send = async (commands, options) => {
      const outcomes = await send(commands, options);
      this.now += this.roundTrip;
      return outcomes.map((outcome, i) => (isTime(commands[i]) ? this.#time : outcome));
    };
    return { ...transport, send: (...args) => this.during(exchange(...args)) };
  }

  /** The same promise, until which no time passes. */
  during<T>(promise: Promise<T>): Promise<T> {
    this.#pending.add(promise);
    promise.catch(() => {}).finally(() => this.#pending.delete(promise));
    return promise;
  }

  get #time(): CommandOutcome {
    return { reply: [String(Math.floor(this.now / 1_000)), String((this.now % 1_000) * 1_000)] };
  }

  async #run(test: number): Promise<void> {
    while (this.#test === test) {
      if ((await this.#isQuiet()) && this.#test === test) this.#ringNext();
    }
  }

  /** Waits for a timer, and until nothing else is to be done. */
  async #isQuiet(): Promise<boolean> {
    if (this.#timers.size === 0) await new Promise<void>((resolve) => (this.#changed = resolve));
    for (let turns = 0; turns < QUIET; turns++) {
      if (this.#pending.size > 0) {
        await Promise.allSettled(this.#pending);
        return false;
      }
      // Also a module that is loaded already takes a few turns, and more on a busy machine.
      await (isLoading() ? vi.dynamicImportSettled() : turn());
      if (isLoading()) turns = 0;
    }
    return true;
  }

  #ringNext(): void {
    const [first, ...others] = this.#timers;
    if (!first) return;
    const [timer, { at, ring }] = others.reduce((one, next) => (next[1].at < one[1].at ? next : one), first);
    this.#timers.delete(timer);
    this.now = Math.max(this.now, at);
    ring();
  }
}

interface WorkerState {
  /** The modules that Vitest looks for now, for `import()` too. */
  readonly resolvingModules: ReadonlySet<string>;
}
const worker = (globalThis as unknown as Record<string, WorkerState>)["__vitest_worker__"];
const isLoading = () => worker !== undefined && worker.resolvingModules.size > 0;

const isTime = (command: unknown) => Array.isArray(command) && command[0] === "TIME";

/** Registers simulated time for the tests of a file. With a rig it is the rig's, and its requests hold it. */
export function useSimulatedTime(rig?: Rig): SimulatedTime {
  const time = new SimulatedTime();
  if (rig) {
    const { command, keySpace } = rig;
    Object.defineProperty(rig, "now", {
      get: () => time.now,
      set(now: number) {
        time.now = now;
      },
    });
    Object.assign(rig, {
      command: (...args: string[]) => time.during(command(...args)),
      keySpace: () => time.during(keySpace()),
    });
  }
  // No request is under way while a module is read.
  beforeAll(async () => void (await loadedOnDemand()));
  beforeEach(() => {
    time.begin();
    if (rig) rig.transport = time.through(rig.transport);
  });
  afterEach(() => time.end());
  return time;
}
