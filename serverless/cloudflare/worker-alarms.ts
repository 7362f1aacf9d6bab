import type { AlarmKind, Alarms } from "../../src/deploy/alarms.ts";
import type { AlarmName } from "./sluice-alarm.ts";

/** The part of a binding to Durable Objects that is used here. */
export interface AlarmNamespace {
  idFromName(name: string): unknown;
  get(id: never): { fetch(url: string, init: { method: string; body: string }): Promise<Response> };
}

/** The shortest time to an alarm, ms: tasks that fall due one after the other are taken together. */
const SHORTEST_ALARM = 500;

/** Alarms later than this, ms, are not set: a sweep before then sets them. */
const HORIZON = 3_600_000;

/** Most alarms that an isolate remembers. */
const MAX_KNOWN = 2_000;

/** The alarms of a Worker. The Durable Object `SluiceAlarm` keeps them. */
export class WorkerAlarms implements Alarms {
  readonly #namespace: AlarmNamespace;
  readonly #object: string;
  /** When the alarms ring that this isolate has set, epoch ms. */
  readonly #known = new Map<AlarmName, number>();
  /** The next request: calls of the same turn share it. */
  #next: { readonly alarms: Record<AlarmName, number>; readonly sent: Promise<void> } | undefined;

  /** @param object the name of the Durable Object */
  constructor(namespace: AlarmNamespace, object: string) {
    this.#namespace = namespace;
    this.#object = object;
  }

  /** Sets an alarm. It sends no request if the isolate knows of an earlier alarm. */
  set(kind: AlarmKind, queue: string, after: number): Promise<void> | undefined {
    if (after > HORIZON) return undefined;
    const now = Date.now();
    const at = now + Math.max(Math.ceil(after), SHORTEST_ALARM);
    const name: AlarmName = `${kind} ${queue}`;
    const known = this.#known.get(name) ?? 0;
    // An alarm that has rung sets the next one.
    if (now < known && known <= at) return undefined;
    if (this.#known.size >= MAX_KNOWN) this.#known.clear();
    this.#known.set(name, at);
    const alarms: Record<AlarmName, number> = this.#next?.alarms ?? {};
    alarms[name] = at;
    this.#next ??= { alarms, sent: Promise.resolve().then(() => this.#send(alarms)) };
    return this.#next.sent;
  }

  async #send(alarms: Readonly<Record<AlarmName, number>>): Promise<void> {
    this.#next = undefined;
    try {
      const object = this.#namespace.get(this.#namespace.idFromName(this.#object) as never);
      const init = { method: "POST", body: JSON.stringify(alarms) };
      const { ok, status } = await object.fetch("https://sluice-alarm/", init);
      if (!ok) throw new Error(`SLUICE_ALARM answered HTTP ${status}`);
    } catch (error) {
      for (const name of Object.keys(alarms) as AlarmName[]) this.#known.delete(name);
      throw error;
    }
  }
}
