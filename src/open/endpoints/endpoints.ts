import { invalidArgument } from "../../errors.ts";
import {
  type Change,
  changeEndpoint,
  checkedCircuit,
  DISABLE,
  ENABLE,
  type EndpointRecord,
  readOne,
  readRegistry,
  type Registered,
  Reports,
  timeOf,
  type Where,
} from "../../features/endpoints/index.ts";
import { checkPolicy, type UrlPolicy } from "../../features/push/index.ts";
import { newTaskId } from "../../kernel/names/ids.ts";
import { checkedTransport } from "../../kernel/transport.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import type { ListOptions, RequestOptions } from "../../kernel/options/types.ts";
import {
  LIST_OPTIONS,
  onlyOptions,
  optionalFunction,
  REQUEST_OPTIONS,
  wholeNumber,
} from "../../kernel/options/validation.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import type { Values } from "../../kernel/values/values.ts";
import type { QueueOrName } from "../definition.ts";
import { opening, type OpenQueue } from "../opening.ts";
import { opened, QUEUE_OPTIONS, valuesOf } from "../options.ts";
import {
  BEHAVIOUR,
  type EndpointPage,
  type EndpointsOptions,
  type EndpointWithSecret,
  type RotateOptions,
} from "./behaviour.ts";
import { Deliveries, type DeliveryTask } from "./deliveries.ts";
import { endpointInfo, type EndpointInfo } from "./endpoint-info.ts";
import {
  changedRecord,
  checkedHeaders,
  checkedSecret,
  endpointId,
  type EndpointOptions,
  NEW_OPTIONS,
  type NewEndpoint,
} from "./endpoint-options.ts";
import { Groups } from "./groups.ts";
import { replay, type Replayed, type ReplayOptions } from "./replay.ts";
import { callOf, madeBy, newSecret, sealed, unsealed, type ValidSecret } from "./secrets.ts";
import { type EventOfEndpoints, sendEvent, type Sent } from "./send.ts";

/**
 * Endpoints: URLs to which events are delivered. Each delivery is a task of one queue, in the group of its endpoint.
 * `push({ endpoints })` delivers them.
 * @example
 * const endpoints = new Endpoints("deliveries", { transport: upstash(env) });
 * const { secret } = await endpoints.add({ id: "acme", url: "https://acme.example/hooks", types: ["orders.*"] });
 * await endpoints.send({ type: "orders.paid", payload: { order: 17 } });
 */
export class Endpoints {
  readonly name: string;
  readonly #where: Where;
  readonly #open: OpenQueue;
  readonly #policy: UrlPolicy | undefined;
  readonly #groups: Groups;
  readonly #deliveries: Deliveries;

  /**
   * @param queue of the deliveries: its name, or a queue that `defineQueue` made
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(queue: QueueOrName<unknown, unknown>, given: EndpointsOptions) {
    onlyOptions(given, [...QUEUE_OPTIONS, ...BEHAVIOUR]);
    const { policy, circuit, disableAfter, onEndpointDisabled, ...options } = given;
    if (policy) checkPolicy(policy);
    const open = opening(options)(queue);
    this.name = open.name;
    this.#open = open;
    const transport = checkedTransport(options.transport);
    this.#where = { transport, prefix: options.prefix ?? transport.prefix, now: options.now };
    this.#policy = policy;
    const hook = optionalFunction(onEndpointDisabled, "onEndpointDisabled");
    this.#groups = new Groups(this.#where, open, hook);
    const limits = checkedCircuit(circuit, disableAfter);
    const newReports = () => new Reports(this.#where, limits, (id) => this.#groups.apply(id));
    this.#deliveries = new Deliveries(this.#where, this.#values, newReports);
  }

  /**
   * Adds an endpoint. Some four requests.
   * @returns the endpoint and its secret, which is never shown again; `ok: false` if there is one with the id
   * @throws {SluiceError} `invalid_argument`; `too_large` if there are 1,000 endpoints
   */
  async add(
    endpoint: NewEndpoint,
    options: RequestOptions = {},
  ): Promise<({ readonly ok: true } & EndpointWithSecret) | { readonly ok: false; readonly code: "exists" }> {
    onlyOptions(endpoint, NEW_OPTIONS);
    onlyOptions(options, REQUEST_OPTIONS);
    const { id: given, secret: own, headers = {}, ...rest } = endpoint;
    const by = await callOf("add", given, options);
    const id = given === undefined ? (by ?? newTaskId()) : endpointId(given);
    let secret = own === undefined ? newSecret() : checkedSecret(own);
    const parts = await sealed(this.#values(), id, [{ secret, by }], checkedHeaders(headers));
    const record = { ...changedRecord(rest, undefined, this.#policy), ...parts, createdAt: this.#now() };
    const change = async (known: Registered | undefined): Promise<Change | undefined> => {
      if (!known) return { record };
      if (by === undefined) return undefined;
      const { secrets } = await unsealed(this.#values(), id, known.record, this.#now());
      const earlier = madeBy(secrets, by);
      secret = earlier ?? secret;
      return earlier === undefined ? undefined : { record: known.record };
    };
    const done = await this.#change(id, change, options);
    return done ? { ok: true, endpoint: this.#info(done), secret } : { ok: false, code: "exists" };
  }

  /**
   * Changes an endpoint. What is not given stays as it is. Instances see it within ten seconds.
   * @returns the endpoint; null if there is none with the id
   * @throws {SluiceError} `invalid_argument`
   */
  async change(
    id: string,
    changes: Partial<EndpointOptions>,
    options: RequestOptions = {},
  ): Promise<EndpointInfo | null> {
    const { headers } = changes;
    const checked = headers && checkedHeaders(headers);
    // Checks the others too before a request.
    changedRecord(changes, PROBE, this.#policy);
    return this.#changeKnown(id, options, async ({ record }) => {
      const changed = { ...record, ...changedRecord(changes, record, this.#policy) };
      if (!checked) return { record: changed };
      const { secrets } = await unsealed(this.#values(), id, record, this.#now());
      return { record: { ...changed, ...(await sealed(this.#values(), id, secrets, checked)) } };
    });
  }

  /**
   * Removes an endpoint. Deliveries that wait for it become dead letters.
   * @returns whether there was one
   * @throws {SluiceError}
   */
  async remove(id: string, options: RequestOptions = {}): Promise<boolean> {
    onlyOptions(options, REQUEST_OPTIONS);
    let existed = false;
    await this.#change(
      endpointId(id),
      (known) => {
        existed ||= known !== undefined;
        return known && { record: null };
      },
      options,
    );
    // Also if it did not exist: an earlier call may have died here.
    await this.#groups.apply(id, { signal: options.signal });
    return existed;
  }

  /**
   * Disables an endpoint: its deliveries become dead letters, and can be replayed.
   * @returns the endpoint; null if there is none with the id
   * @throws {SluiceError}
   */
  async disable(id: string, options: RequestOptions = {}): Promise<EndpointInfo | null> {
    return this.#changeKnown(id, options, ({ record }) => ({ record, state: DISABLE }), true);
  }

  /**
   * Enables an endpoint, as if no delivery had failed.
   * @returns the endpoint; null if there is none with the id
   * @throws {SluiceError}
   */
  async enable(id: string, options: RequestOptions = {}): Promise<EndpointInfo | null> {
    return this.#changeKnown(id, options, ({ record }) => ({ record, state: ENABLE }), true);
  }

  /**
   * Gives an endpoint another secret. For a time the one before signs too.
   * @returns the endpoint and its secret, which is never shown again; null if there is none with the id
   * @throws {SluiceError} `invalid_argument`
   */
  async rotate(id: string, given: RotateOptions = {}): Promise<EndpointWithSecret | null> {
    const { secret: own, keep = "24h", ...options } = given;
    onlyOptions(options, REQUEST_OPTIONS);
    let secret = own === undefined ? newSecret() : checkedSecret(own);
    const kept = milliseconds(keep, "keep");
    const by = await callOf("rotate", id, options);
    const endpoint = await this.#changeKnown(id, options, async ({ record }) => {
      const now = this.#now();
      const before = await unsealed(this.#values(), id, record, now);
      const [current] = before.secrets;
      secret = madeBy(before.secrets, by) ?? secret;
      // A second try of this call.
      if (current?.secret === secret) return { record };
      const last: ValidSecret[] = current && kept > 0 ? [{ ...current, until: now + kept }] : [];
      return {
        record: {
          ...record,
          ...(await sealed(this.#values(), id, [{ secret, by }, ...last], before.headers)),
        },
      };
    });
    return endpoint && { endpoint, secret };
  }

  /**
   * Reads an endpoint. One request.
   * @returns null if there is none with the id
   * @throws {SluiceError}
   */
  async get(id: string, options: RequestOptions = {}): Promise<EndpointInfo | null> {
    onlyOptions(options, REQUEST_OPTIONS);
    const { endpoint } = await readOne(this.#where, endpointId(id), options);
    return endpoint ? this.#info(endpoint) : null;
  }

  /**
   * Reads a page of the endpoints, by their ids. One request.
   * @throws {SluiceError}
   */
  async list(options: ListOptions = {}): Promise<EndpointPage> {
    onlyOptions(options, LIST_OPTIONS);
    const { cursor: after, size = 100, ...rest } = options;
    wholeNumber(size, "size", 1, MAX_BATCH);
    const last = after === undefined ? "" : lastOf(after);
    const { endpoints } = await readRegistry(this.#where, { ...rest, fresh: true });
    const left = [...endpoints.values()].filter(({ id }) => id > last);
    const page = left.slice(0, size).map((one) => this.#info(one));
    return { endpoints: page, cursor: left.length > size ? `~${page.at(-1)?.id}` : null };
  }

  /**
   * Delivers an event to each endpoint whose types it matches. One request, if the instance has read the endpoints
   * within ten seconds. A repeated call with the event's `id`, or with the idempotency key, adds only what is missing.
   * @throws {SluiceError} as `enqueueMany`
   * @example await endpoints.send({ id: "order-17", type: "orders.paid", payload: { order: 17 } })
   */
  async send(event: EventOfEndpoints, options: RequestOptions = {}): Promise<Sent> {
    return sendEvent(this.#where, this.#open, event, options);
  }

  /**
   * Delivers again what could not be delivered to an endpoint, within bounds as of `Operator.redrive`: it is resumed by
   * its cursor.
   * @returns `ok: false` if there is no endpoint with the id, or if it is disabled
   * @throws {SluiceError}
   * @example await endpoints.replay("acme", { since: Date.now() - 86_400_000, rate: 10 })
   */
  async replay(id: string, options: ReplayOptions): Promise<Replayed> {
    return replay(this.#where, this.#open, endpointId(id), options);
  }

  /** Finds the endpoint of a task: `push({ endpoints })` calls it. */
  find({ task }: { readonly task: DeliveryTask }): ReturnType<Deliveries["find"]> {
    return this.#deliveries.find(task);
  }

  /** Notes what became of a delivery: `push({ endpoints })` calls it. Never throws. */
  report(
    outcome: Parameters<Deliveries["report"]>[0],
    { task, tools }: { readonly task: DeliveryTask; readonly tools?: object | undefined },
  ): Promise<void> {
    return this.#deliveries.report(outcome, task, tools);
  }

  /**
   * Makes up for changes whose caller did not end: deployments call it in their sweeps. One request, if all is well.
   * @throws {SluiceError}
   */
  async upkeep(options: RequestOptions = {}): Promise<void> {
    return this.#groups.upkeep(options);
  }

  #changeKnown(
    id: string,
    options: RequestOptions,
    change: (known: Registered) => Change | Promise<Change>,
    resumes = false,
  ): Promise<EndpointInfo | null> {
    onlyOptions(options, REQUEST_OPTIONS);
    return this.#change(endpointId(id), (known) => known && change(known), options, resumes).then((done) =>
      done ? this.#info(done) : null,
    );
  }

  async #change(
    id: string,
    change: (known: Registered | undefined) => Change | undefined | Promise<Change | undefined>,
    { signal }: RequestOptions,
    resumes = false,
  ): Promise<Registered | undefined> {
    let before: Registered | undefined;
    const done = await changeEndpoint(this.#where, id, (known) => change((before = known)), { signal });
    const ofLimits = before?.circuit.isApplied ? done?.circuit.changed : undefined;
    if (done && !done.circuit.isApplied) await this.#groups.apply(id, { signal, resumes, ofLimits });
    return done;
  }

  #info = (endpoint: Registered): EndpointInfo => endpointInfo(endpoint, this.#now());

  #now = (): number => timeOf(this.#where);

  #values = (): Values => valuesOf(opened(this.#open.definition, this.#open.options));
}

/** The last endpoint of the page before, by the cursor of that page. */
function lastOf(cursor: unknown): string {
  if (typeof cursor === "string" && cursor.startsWith("~")) return endpointId(cursor.slice(1), "cursor");
  throw invalidArgument("cursor", "must be the cursor of an earlier page");
}

/** To check changes without a request. */
const PROBE: Pick<EndpointRecord, "url" | "types"> = { url: "", types: ["#"] };
