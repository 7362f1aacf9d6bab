import { run, scriptCall } from "../../kernel/call.ts";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import { newToken } from "../../kernel/names/ids.ts";
import { endpointsKey } from "../../kernel/names/keys.ts";
import { testNowOf } from "../../kernel/queue-ref.ts";
import type { CircuitArguments } from "./circuit-options.ts";
import { reportDeliveriesScript } from "./endpoint-scripts.ts";
import { forgetRegistry, timeOf, type Where } from "./registry.ts";

/** Most endpoints that one call of the script takes. */
const MOST = 500;

/** What became of deliveries to one endpoint. */
interface Counts {
  failed: number;
  succeeded: number;
  gone: boolean;
}

/** Deliveries that succeeded, and that no failure has followed yet. */
interface Tally {
  count: number;
  readonly since: number;
}

/** Those of this instance. They are reported with the next failure. */
const tallies = new InstanceMemory<Tally>();

/**
 * Reports what became of deliveries. A success costs nothing, except the first one after a failure. What ends while a
 * report is under way goes with the next one.
 */
export class Reports {
  readonly #where: Where;
  readonly #circuit: CircuitArguments;
  readonly #onChange: (id: string) => Promise<void>;
  readonly #waiting = new Map<string, Counts>();
  #underWay: Promise<void> | undefined;

  /** @param onChange called with an endpoint whose circuit was opened or closed, or which was disabled */
  constructor(where: Where, circuit: CircuitArguments, onChange: (id: string) => Promise<void>) {
    this.#where = where;
    this.#circuit = circuit;
    this.#onChange = onChange;
  }

  /** Counts a success of an endpoint whose last deliveries did not fail. */
  count(id: string): void {
    const { transport } = this.#where;
    const known = this.#tally(id);
    if (known) known.count += 1;
    else tallies.set(transport, this.#key(id), { count: 1, since: timeOf(this.#where) });
  }

  /**
   * Reports a failure, or the first success after one.
   * @throws {SluiceError} a fault of the transport
   */
  async report(id: string, outcome: { readonly ok: boolean; readonly gone: boolean }): Promise<void> {
    const counts = this.#waiting.get(id) ?? { failed: 0, succeeded: 0, gone: false };
    if (outcome.ok) counts.succeeded += 1;
    else counts.failed += 1;
    counts.gone ||= outcome.gone;
    this.#waiting.set(id, counts);
    await (this.#underWay ??= this.#sendAll());
  }

  async #sendAll(): Promise<void> {
    try {
      while (this.#waiting.size > 0) await this.#send();
    } finally {
      this.#underWay = undefined;
    }
  }

  async #send(): Promise<void> {
    const reported = [...this.#waiting].slice(0, MOST);
    const items = reported.map(([id, { failed, succeeded, gone }]) => {
      this.#waiting.delete(id);
      const before = failed > 0 ? this.#takeTally(id) : 0;
      return {
        id,
        failed: String(failed),
        succeeded: String(succeeded + before),
        gone: gone ? "1" : "",
      };
    });
    const { transport, prefix } = this.#where;
    const given = { testNow: testNowOf(this.#where), token: newToken(), ...this.#circuit };
    const keys = { endpoints: endpointsKey(prefix) };
    const call = scriptCall(reportDeliveriesScript, keys, given, items);
    const { version, states } = await run(transport, call);
    // Which endpoints fail decides which successes are reported.
    forgetRegistry(this.#where, version);
    for (const [i, { change }] of states.entries()) {
      if (change !== "") await this.#onChange(reported[i]?.[0] ?? "");
    }
  }

  /** The tally of the window. */
  #tally(id: string): Tally | undefined {
    const known = tallies.get(this.#where.transport, this.#key(id));
    const age = known ? timeOf(this.#where) - known.since : -1;
    return age >= 0 && age < Number(this.#circuit.window) ? known : undefined;
  }

  #takeTally(id: string): number {
    const known = this.#tally(id);
    tallies.delete(this.#where.transport, this.#key(id));
    return known?.count ?? 0;
  }

  #key(id: string): string {
    return `${endpointsKey(this.#where.prefix)} ${id}`;
  }
}
