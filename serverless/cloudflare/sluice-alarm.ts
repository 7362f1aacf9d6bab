import { messageOf } from "../../src/errors.ts";
import type { AlarmKind } from "../../src/deploy/alarms.ts";

/** An alarm's name: its kind and its queue. */
export type AlarmName = `${AlarmKind} ${string}`;

/** A request to the object: when alarms are to ring, epoch ms. */
export type WantedAlarms = Readonly<Record<AlarmName, number>>;

/** What the object calls in the Worker that exports it. */
export interface AlarmReceiver {
  /** Handles alarms that ring. If it rejects, they ring again. */
  ringSluice(alarms: readonly AlarmName[]): Promise<void>;
}

/** The part of a Durable Object's state that is used here. */
interface ObjectState {
  readonly storage: {
    get(key: string): Promise<unknown>;
    put(key: string, value: unknown): Promise<void>;
    getAlarm(): Promise<number | null>;
    setAlarm(at: number): Promise<void>;
  };
  /** The exports of the Worker; undefined before the compatibility date 2025-11-17. */
  readonly exports?: { readonly default?: AlarmReceiver };
}

/** Most alarms of one object. What falls due in further queues waits for the next cron. */
const MAX_ALARMS = 2_000;

/** Most alarms that ring at once: one invocation handles them. The others ring directly after them. */
const MAX_RINGING = 10;

/** The key of the stored alarms. */
const KEY = "alarms";

/**
 * A Durable Object that wakes the Worker when tasks and schedules are due. Export it from the Worker, and bind it
 * as `SLUICE_ALARM`. Each request to it and each alarm writes two rows at most.
 * @example
 * export { SluiceAlarm } from "sluice-queue/cloudflare";
 */
export class SluiceAlarm {
  /** Marks Durable Objects in Cloudflare's types. */
  declare readonly __DURABLE_OBJECT_BRAND: never;
  readonly #state: ObjectState;
  /** When each alarm rings, epoch ms; undefined until it was read. */
  #alarms: Map<AlarmName, number> | undefined;
  /** Alarms that ring now. They stay in the storage until the Worker has taken them. */
  #ringing: ReadonlyMap<AlarmName, number> = new Map();

  constructor(state: ObjectState) {
    this.#state = state;
  }

  /** Sets alarms, for the Worker. An alarm that rings earlier stays. */
  async fetch(request: Request): Promise<Response> {
    const wanted = (await request.json()) as WantedAlarms;
    const alarms = await this.#read();
    let changed = false;
    for (const [name, at] of Object.entries(wanted) as [AlarmName, number][]) {
      const set = alarms.get(name);
      if (set === undefined ? alarms.size >= MAX_ALARMS : set <= at) continue;
      alarms.set(name, at);
      changed = true;
    }
    if (changed) await this.#store();
    const { storage } = this.#state;
    // There is none if the Worker has failed until Cloudflare stopped calling `alarm` again.
    const next = await storage.getAlarm();
    if (next === null || next > earliest(alarms)) await storage.setAlarm(earliest(alarms));
    return new Response(null, { status: 204 });
  }

  /** Wakes the Worker. Called by Cloudflare, and again if it throws. */
  async alarm(): Promise<void> {
    const alarms = await this.#read();
    const now = Date.now();
    const due = Array.from(alarms)
      .filter(([, at]) => at <= now)
      .slice(0, MAX_RINGING);
    this.#ringing = new Map(due);
    // Alarms that are set from now on are later ones of the same queues.
    for (const [name] of due) alarms.delete(name);
    try {
      if (due.length > 0) await this.#receiver.ringSluice(due.map(([name]) => name));
    } catch (error) {
      for (const [name, at] of due) alarms.set(name, at);
      throw lacksMethod(error) ? new Error(LACKS_METHOD, { cause: error }) : error;
    } finally {
      this.#ringing = new Map();
    }
    await this.#store();
    if (alarms.size > 0) await this.#state.storage.setAlarm(earliest(alarms));
  }

  get #receiver(): AlarmReceiver {
    const receiver = this.#state.exports?.default;
    if (receiver) return receiver;
    throw new Error("SluiceAlarm needs a compatibility_date of 2025-11-17 or later, and a default export");
  }

  async #read(): Promise<Map<AlarmName, number>> {
    this.#alarms ??= new Map(Object.entries((await this.#state.storage.get(KEY)) ?? {})) as Map<
      AlarmName,
      number
    >;
    return this.#alarms;
  }

  async #store(): Promise<void> {
    const alarms = await this.#read();
    await this.#state.storage.put(KEY, Object.fromEntries([...alarms, ...this.#ringing]));
  }
}

function earliest(alarms: ReadonlyMap<AlarmName, number>): number {
  return Math.min(...alarms.values());
}

const LACKS_METHOD =
  "SluiceAlarm needs a default export with the method ringSluice, as the object that sluice() returns has it";

/** Whether workerd did not find the method. */
function lacksMethod(error: unknown): boolean {
  return /does not implement the method "ringSluice"/.test(messageOf(error));
}
