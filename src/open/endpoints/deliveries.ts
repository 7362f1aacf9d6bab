import { readRegistry, type Reports, timeOf, type Where } from "../../features/endpoints/index.ts";
import type { DeliveryOutcome, Endpoint } from "../../features/push/index.ts";
import type { Values } from "../../kernel/values/values.ts";
import { unsealed } from "./secrets.ts";

/** Of a task, what says which endpoint it is for. */
export interface DeliveryTask {
  readonly group?: string | undefined;
}

/** Why an endpoint is disabled, as the errors of its deliveries say it. */
const DISABLED = {
  operator: "an operator has disabled the endpoint",
  failures: "the endpoint is disabled, because its deliveries failed for too long",
  gone: "the endpoint is disabled, because it asked to get nothing more",
};

/** The deliveries to endpoints. */
export class Deliveries {
  readonly #where: Where;
  readonly #values: () => Values;
  readonly #newReports: () => Reports;
  /** By the tools of their deliveries: requests of a Worker may not wait for one another. */
  readonly #reports = new WeakMap<object, Reports>();

  constructor(where: Where, values: () => Values, newReports: () => Reports) {
    this.#where = where;
    this.#values = values;
    this.#newReports = newReports;
  }

  /** @throws {SluiceError} `undecryptable`, `newer_schema`, or a fault of the transport */
  async find({ group: id }: DeliveryTask): Promise<Endpoint | undefined> {
    if (id === undefined) return undefined;
    const read = async (look: boolean) => (await readRegistry(this.#where, { look })).endpoints.get(id);
    const known = await read(false);
    // It may be new, or enabled by now.
    const endpoint = known?.circuit.state === "closed" ? known : await read(true);
    if (!endpoint) return undefined;
    const { record, circuit } = endpoint;
    const { url } = record;
    if (circuit.reason) return { url, disabled: DISABLED[circuit.reason] };
    const now = timeOf(this.#where);
    // It was taken before the circuit opened.
    if (circuit.state === "open" && circuit.until > now) throw new NotYet(circuit.until - now);
    const { secrets, headers } = await unsealed(this.#values(), id, record, now);
    return { url, headers, secrets: secrets.map(({ secret }) => secret) };
  }

  /** @param tools of the deployment; only deliveries with the same ones share reports */
  async report(
    outcome: Pick<DeliveryOutcome, "ok" | "gone">,
    { group: id }: DeliveryTask,
    tools: object = {},
  ): Promise<void> {
    if (id === undefined) return;
    try {
      const circuit = (await readRegistry(this.#where)).endpoints.get(id)?.circuit;
      if (!circuit || circuit.state === "disabled") return;
      const reports = this.#reports.get(tools) ?? this.#newReports();
      this.#reports.set(tools, reports);
      const isHealthy = circuit.state === "closed" && circuit.failingSince === null;
      if (outcome.ok && !outcome.gone && isHealthy) reports.count(id);
      else await reports.report(id, outcome);
    } catch {
      // What was delivered must not be delivered again. The next failure is reported, and a sweep applies what is left.
    }
  }
}

/** As `RetryAfter` of the drain: the task waits, and no attempt counts. */
class NotYet extends Error {
  override readonly name = "RetryAfter";
  readonly delay: number;
  readonly count = false;
  readonly queue = false;

  /** @param delay ms */
  constructor(delay: number) {
    super("deliveries to the endpoint pause, because they fail");
    this.delay = delay;
  }
}
