import { operations } from "../../../src/http/operations/index.ts";
import { debounce } from "../../../src/features/debounce/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { deepSweep } from "../../../src/open/deep-sweep/index.ts";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";
import { bounds } from "../../../src/http/request-schemas/values.ts";
import { SluiceError, type Command } from "../../../src/index.ts";
import { faultsOfAnswer } from "../../long/fuzz/answer.ts";
import { bindings } from "../../support/bindings.ts";
import { Described } from "../../long/fuzz/document.ts";
import { fetched, tokens } from "../../long/fuzz/stack.ts";
import { written } from "../../long/fuzz/valid-request.ts";
import { Client, dequeueOptions, settlementOf, type ClientOptions } from "./client.ts";
import { KEYED_REQUESTS } from "./keys/keyed-calls.ts";
import type { Of, Operation, Pull } from "./operations.ts";

type Fields = Readonly<Record<string, unknown>>;

/** A request: its operation in the OpenAPI document, and its parts. The path has the queue, too. */
interface Asked {
  readonly route: string;
  readonly path?: Readonly<Record<string, string>>;
  /** Those that are undefined are not sent. */
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  /** The idempotency key. */
  readonly key?: string | undefined;
}

type Requests = { readonly [D in Operation["does"]]?: (operation: Of<D>) => Asked | undefined };

/** A request dequeues fewer tasks than the library, and looks for what is due. */
const isTooMany = ({ max, readyOnly }: Pick<Pull, "max" | "readyOnly">) =>
  max > bounds.pull || readyOnly === true;

/** The requests of all operations that have a route. */
const REQUESTS: Requests = {
  enqueue: ({ tasks, key }) => ({ route: "enqueue", key, body: tasks.length === 1 ? tasks[0] : { tasks } }),
  ...KEYED_REQUESTS,
  dequeue: (pull) => (isTooMany(pull) ? undefined : { route: "pull", body: dequeueOptions(pull) }),
  settle: ({ items, pull, key }) => {
    if (pull && isTooMany(pull)) return undefined;
    const body = { settlements: items.map(settlementOf), pull: pull && dequeueOptions(pull) };
    return { route: "settle", key: pull ? undefined : key, body };
  },
  cancel: ({ id, lease }) => ({ route: "cancelTask", path: { id }, body: { lease } }),
  remove: ({ id }) => ({ route: "deleteTask", path: { id } }),
  get: ({ id }) => ({ route: "getTask", path: { id } }),
  redrive: ({ does: _, waker: __, ...body }) => ({ route: "redrive", body }),
  redriveIds: ({ ids }) => ({ route: "redrive", body: { ids } }),
  purge: ({ does: _, ...body }) => ({ route: "purge", body }),
  configure: ({ changes, key }) => ({ route: "configureQueue", body: changes, key }),
  pause: ({ key, for: length }) => ({
    route: "pauseQueue",
    key,
    body: length === undefined ? {} : { for: length },
  }),
  resume: ({ key }) => ({ route: "resumeQueue", key }),
  configureGroup: ({ group, changes, key }) => ({
    route: "configureGroup",
    path: { group },
    body: changes,
    key,
  }),
  drop: ({ force, key }) => ({ route: "deleteQueue", query: { force }, key }),
  heartbeat: ({ does: _, ...body }) => ({ route: "heartbeat", body }),
  fail: ({ worker, limit }) => {
    const isOfAny = typeof worker === "string";
    const [name, one] = isOfAny ? [worker, {}] : [worker.name, { incarnation: worker.incarnation ?? null }];
    return { route: "failWorker", path: { name }, body: { ...one, limit } };
  },
  forget: ({ worker: { name, incarnation } }) => ({
    route: "forgetWorker",
    path: { name },
    query: { incarnation },
  }),
  // A request has the limit of the library, and goes on until nothing is left.
  sweep: ({ limit, once }) => (once || limit !== 1_000 ? undefined : { route: "sweep" }),
  deepSweep: () => ({ route: "sweep", body: { deep: true } }),
  counts: () => ({ route: "getQueue" }),
  workers: () => ({ route: "listWorkers", query: { size: 1_000 } }),
  groups: () => ({ route: "listGroups", query: { size: 1_000 } }),
  statistics: () => ({ route: "getStatistics" }),
  settings: () => ({ route: "getSettings" }),
  list: ({ does: _, ...query }) => ({ route: "listTasks", query }),
  putSchedule: ({ name, schedule: body, key }) => ({
    route: "putSchedule",
    path: { schedule: name },
    body,
    key,
  }),
  switchSchedule: ({ name, to, key }) => ({ route: `${to}Schedule`, path: { schedule: name }, key }),
  removeSchedule: ({ name, key }) => ({ route: "removeSchedule", path: { schedule: name }, key }),
  getSchedule: ({ name }) => ({ route: "getSchedule", path: { schedule: name } }),
  listSchedules: () => ({ route: "listSchedules", query: { size: 1_000 } }),
};

/** Durations are sent as texts if they are whole seconds. */
const DURATIONS = new Set(
  "delay lease resultTtl deadTtl ttl unique window silentAfter goneAfter per every wait maxWait"
    .split(" ")
    .values(),
);

/** The same value as JSON: bytes are in base64. */
function inJson(name: string, value: unknown): unknown {
  if (DURATIONS.has(name) && typeof value === "number" && value > 0 && value % 1_000 === 0)
    return `${value / 1_000}s`;
  const { payload } = (value ?? {}) as { readonly payload?: unknown };
  if (!(payload instanceof Uint8Array)) return value;
  return { ...(value as object), payload: Buffer.from(payload).toString("base64"), encoding: "base64" };
}

function fromJson({ encoding, ...fields }: Fields): Fields {
  if (encoding === undefined) return fields;
  return { ...fields, payload: new Uint8Array(Buffer.from(fields["payload"] as string, "base64")) };
}

/** The scripts whose first argument is the time, if a test sets it. */
const TIMED = new Set(bindings.flatMap(({ args, script }) => (args[0] === "testNow" ? [script.name] : [])));

const described = new Described(openapi);

/** A function instance that calls the HTTP interface. What has no route is called as by the others. */
export class HttpClient extends Client {
  readonly #app: ReturnType<typeof createApp>;
  readonly #wakingApp: ReturnType<typeof createApp>;

  constructor(given: ClientOptions) {
    super(given);
    const { transport, now, onDeadLetter } = given;
    // The HTTP interface has no clock of its own: scripts get the time on their way.
    const timed = (command: Command): Command => {
      if (!("script" in command) || !TIMED.has(command.script.name) || command.args[0] !== "") return command;
      const { args, resendArgs } = command;
      const at = (given: readonly string[]) => given.with(0, String(now()));
      return { ...command, args: at(args), ...(resendArgs && { resendArgs: at(resendArgs) }) };
    };
    const options = {
      transport: { send: (commands, sending) => transport.send(commands.map(timed), sending) },
      tokens,
      onDeadLetter,
      deepSweep,
      debounce,
    } satisfies Parameters<typeof createApp>[0];
    this.#app = createApp({ ...options, operations });
    this.#wakingApp = createApp({ operations, ...options, wake: this.wake });
  }

  override async call(operation: Operation): Promise<unknown> {
    const make = REQUESTS[operation.does] as ((operation: Operation) => Asked | undefined) | undefined;
    const asked = make?.(operation);
    if (!asked) return super.call(operation);
    const isWaking = "waker" in operation && (operation.waker ?? false);
    const ask = (query = asked.query) => this.#ask(isWaking, { ...asked, ...(query && { query }) });
    const first = await ask();
    if (operation.does !== "list") return answerOf(operation, first);
    const all = [...(first["tasks"] as unknown[])];
    for (let page = first; page["cursor"] !== null; all.push(...(page["tasks"] as unknown[])))
      page = await ask({ ...asked.query, cursor: page["cursor"] });
    return all;
  }

  /** The body of the answer, which must be as the OpenAPI document says. */
  async #ask(isWaking: boolean, { route: id, path, query = {}, body, key }: Asked): Promise<Fields> {
    const route = described.routes.find(({ operationId }) => operationId === id);
    if (!route) throw new Error(`the document has no operation ${id}`);
    const given = Object.entries(query).filter(([, value]) => value !== undefined);
    const request = written({
      route,
      path: { queue: this.options.name, ...path },
      query: Object.fromEntries(given.map(([name, value]) => [name, String(value)])),
      headers: key === undefined ? {} : { "Idempotency-Key": key },
      body: body === undefined ? undefined : (JSON.parse(JSON.stringify(body, inJson)) as unknown),
    });
    const answer = await fetched((isWaking ? this.#wakingApp : this.#app).fetch, request);
    const faults = faultsOfAnswer(described, route, answer);
    if (faults.length > 0)
      throw new Error(`${faults.join("; ")}\n${JSON.stringify([request, answer.status, answer.text])}`);
    return JSON.parse(answer.text) as Fields;
  }
}

/** The library's answer, from the body of an answer over HTTP. */
function answerOf({ does }: Operation, body: Fields): unknown {
  const { status, code, detail } = body;
  if (typeof status === "number" && status >= 400) {
    if (code === "not_found" && (does === "get" || does === "getSchedule")) return null;
    if (code === "invalid_request") throw new SluiceError("invalid_argument", String(detail));
    if (code === "queue_full" || code === "idempotency_key_reused")
      throw new SluiceError(code, String(detail));
    // The library returns the number, the problem a sentence.
    const working = code === "still_working" && { working: Number.parseInt(String(detail), 10) };
    return { ok: false, code, ...working };
  }
  switch (does) {
    case "enqueue":
      return body["tasks"] ?? [body];
    case "forgetKey":
      return body["known"];
    case "dequeue":
      return batchOf(body);
    case "settle": {
      const { results, pull } = body;
      return pull === undefined ? results : { settled: results, tasks: batchOf(pull as Fields) };
    }
    case "cancel":
      return { ok: true, state: body["state"] };
    case "remove":
    case "removeSchedule":
    case "drop":
    case "forget":
      return { ok: true };
    case "switchSchedule": {
      const { skipped, ...schedule } = body;
      return { ok: true, schedule, ...(skipped !== undefined && { skipped }) };
    }
    case "getSchedule":
      return fromJson(body);
    case "listSchedules":
      return body["schedules"];
    case "heartbeat":
      return { ok: true, ...body };
    case "fail": {
      const { name: _, ...failed } = body;
      return failed;
    }
    default:
      return body;
  }
}

/** A batch with the time of the next due task. Fields that a task does not have are undefined. */
function batchOf({ tasks, nextDueAt, paused }: Fields): unknown {
  const absent = { headers: undefined, group: undefined };
  const batch = (tasks as readonly Fields[]).map((task) => ({ ...absent, ...fromJson(task) }));
  return Object.assign(batch, { nextDueAt, paused });
}
