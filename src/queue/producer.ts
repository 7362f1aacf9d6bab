import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument, SluiceError } from "../errors.ts";
import { byteLength, encodeValue } from "./codec.ts";
import { milliseconds } from "./duration.ts";
import { ENVELOPE_BASE64 } from "./envelope.ts";
import { derivedName, derivedTaskIds, newTaskId, newToken } from "./identity.ts";
import { QueueHandle, type HandleOptions } from "./handle.ts";
import {
  LAST_DUE,
  listOf,
  onlyOptions,
  recordName,
  REQUEST_OPTIONS,
  requestKey,
  taskId,
  trueOrFalse,
  wholeNumber,
} from "./names.ts";
import { lastReply } from "./outcome.ts";
import { asciiJson, MAX_HEADER_BYTES, readTaskInfo, writeFixed } from "./record.ts";
import { registration } from "./registry.ts";
import { callOf } from "./binding.ts";
import { checkedSchema, fitting } from "./schema.ts";
import { openedTask, sealed } from "./sealing.ts";
import { cancelScript, enqueueScript, inspectScript, wakeScript } from "./scripts.ts";
import { CheckedWaker, type Waker } from "./waker.ts";
import type {
  Cancelled,
  Enqueued,
  EnqueueOptions,
  NewTask,
  RequestOptions,
  TaskDefaults,
  TaskInfo,
} from "./types.ts";

/** Most tasks of one enqueue. */
export const MAX_ENQUEUE = 1_000;

/** Most bytes of records in one enqueue: Upstash refuses a request over 10 MB. */
export const MAX_ENQUEUE_BYTES = 9_500_000;

const DEFAULTS = ["lease", "maxAttempts", "resultTtl", "deadTtl", "delay"] as const;

const TASK_OPTIONS = [
  ...DEFAULTS,
  ...(["id", "at", "group", "priority", "dedup", "again", "headers"] as const),
] as const satisfies readonly (keyof EnqueueOptions)[];

/** Options of a queue; a producer has no use for the last. */
const QUEUE_OPTIONS = ["transport", "prefix", "now", "encryption", ...DEFAULTS, "maxBytes", "schema", "wake"];

export interface ProducerOptions<In = unknown, Out = In> extends TaskDefaults, HandleOptions {
  /** What a payload must be, by any Standard Schema (zod, valibot, arktype, …): checked at enqueue and at dequeue. */
  readonly schema?: StandardSchemaV1<In, Out> | undefined;
  /** Wakes a consumer where none runs, when a task is ready. @default nobody is woken: cron starts consumers */
  readonly wake?: Waker | undefined;
}

/** What a producer does with a queue. `Queue` adds what consumers do; a bundle with this alone is smaller. */
export class Producer<In = unknown, Out = In> extends QueueHandle {
  readonly #defaults: TaskDefaults;
  protected readonly schema: StandardSchemaV1<In, Out> | undefined;
  readonly #waker: CheckedWaker | undefined;

  /**
   * @param name `^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`
   * @throws {SluiceError} `invalid_argument`
   */
  constructor(name: string, options: ProducerOptions<In, Out>) {
    super(name, options);
    onlyOptions(options, QUEUE_OPTIONS);
    const { lease, maxAttempts, resultTtl, deadTtl, delay } = options;
    this.#defaults = { lease, maxAttempts, resultTtl, deadTtl, delay };
    this.schema = checkedSchema(options.schema);
    this.#waker = options.wake && new CheckedWaker(options.wake);
    // Faults in the defaults show here, not at the first task.
    fixedOptions(this.#defaults, {}, "");
    whenReady(this.#defaults, {}, "");
  }

  /**
   * Adds one task, in one request.
   * @param payload anything that JSON can express, or a `Uint8Array`; at most 1 MiB
   * @returns the task's id; `created` is false where the id was known already
   * @throws {SluiceError} `invalid_argument`, `too_large`, `queue_full`, `idempotency_key_reused` if the key belongs to
   *   other tasks, or a fault of the transport
   */
  async enqueue(payload: In, options: EnqueueOptions & RequestOptions = {}): Promise<Enqueued> {
    onlyOptions(options, [...TASK_OPTIONS, ...REQUEST_OPTIONS]);
    const { signal, idempotencyKey, ...task } = options;
    const [enqueued] = await this.#enqueue([{ ...task, payload }], { signal, idempotencyKey }, () => "");
    return enqueued as Enqueued;
  }

  /**
   * Adds up to 1,000 tasks, in one request: all of them, or none where it is refused. Where it throws `redis_unreachable`
   * or `aborted`, all of them may be there.
   * @throws {SluiceError} as {@link enqueue}; the path says which task is at fault
   */
  async enqueueMany(tasks: readonly NewTask<In>[], options: RequestOptions = {}): Promise<Enqueued[]> {
    listOf(tasks, "tasks", MAX_ENQUEUE);
    onlyOptions(options, REQUEST_OPTIONS);
    for (const [i, task] of tasks.entries()) onlyOptions(task, ["payload", ...TASK_OPTIONS], `tasks[${i}].`);
    if (tasks.length === 0) return [];
    return this.#enqueue(tasks, options, (i) => `tasks[${i}].`);
  }

  async #enqueue(
    tasks: readonly NewTask<In>[],
    options: RequestOptions,
    at: (index: number) => string,
  ): Promise<Enqueued[]> {
    const key = requestKey(options);
    const idAt = key === undefined ? () => newTaskId() : await derivedTaskIds(this.name, key);
    const payloads = await Promise.all(
      tasks.map(async (task, i) => {
        const id = task.id === undefined ? idAt(i) : taskId(task.id, `${at(i)}id`);
        const path = `${at(i)}payload`;
        const encoded = encodeValue(await fitting(this.schema, task.payload, path), path);
        return { id, payload: await sealed(this.values, { kind: "payload", id }, encoded, path) };
      }),
    );
    const token =
      key === undefined
        ? newToken()
        : await callToken(
            this.name,
            key,
            tasks.map((task, i) => [task.id ?? null, contentOf(task, payloads[i]?.payload ?? "", at(i))]),
          );
    const items = payloads.map(({ id, payload }, i) => {
      const task = tasks[i] as NewTask<In>;
      return {
        id,
        when: whenReady(this.#defaults, task, at(i)),
        unique: uniqueness(task, at(i)),
        record: writeFixed({
          // A generated id is known to its producer alone, so it needs no token beside it.
          token: task.id === undefined && key === undefined ? undefined : token,
          ...fixedOptions(this.#defaults, task, at(i)),
          payload,
        }),
      };
    });
    const bytes = items.reduce((sum, item) => sum + byteLength(item.record), 0);
    if (items.length > 1 && bytes > MAX_ENQUEUE_BYTES) {
      throw new SluiceError(
        "too_large",
        `tasks have ${bytes} bytes; one request takes ${MAX_ENQUEUE_BYTES}`,
        "tasks",
      );
    }
    const note = registration(this.transport, this.keys, this.name, this.testNow());
    const args = {
      testNow: this.testNow(),
      look: note.look ? "1" : "",
      wake: this.#waker?.window(this.name) ?? "",
      apart: "",
    };
    const call = callOf(enqueueScript, this.keys, args, items);
    const outcomes = await this.transport.send([...note.commands, call], options);
    const { refused, look, wake, tasks: told } = enqueueScript.decode(lastReply(outcomes));
    if (outcomes[0] && "reply" in outcomes[0]) note.done(look);
    if (refused === "reused") {
      throw new SluiceError(
        "idempotency_key_reused",
        "an earlier enqueue with this idempotencyKey had other tasks; use a new key for new tasks",
        "idempotencyKey",
      );
    }
    if (refused === "full") {
      throw new SluiceError(
        "queue_full",
        "with these tasks more would be pending than the maxPending of the queue allows",
      );
    }
    if (wake) await this.#waker?.wake(this.name);
    return items.map(({ id }, i) => {
      const created = told[i];
      return typeof created === "string"
        ? { id: created, created: false }
        : { id, created: created === true };
    });
  }

  /**
   * Wakes another consumer, for work that is more than those awake can do; not where one was woken within the window.
   * One request, of 3 or 4 Redis commands.
   * @returns whether one was woken
   * @throws {SluiceError} `invalid_argument` where the queue has no `wake`
   */
  async wakeAnother(options: RequestOptions = {}): Promise<boolean> {
    onlyOptions(options, REQUEST_OPTIONS);
    const window = this.#waker?.window(this.name) || undefined;
    if (!window) throw new SluiceError("invalid_argument", "the queue has nobody to wake: see wake", "wake");
    const wanted = await this.run(wakeScript, { testNow: this.testNow(), window }, [], options);
    if (wanted) await this.#waker?.wake(this.name);
    return wanted;
  }

  /**
   * What is known of a task, or null where nothing is (any more). One request.
   * @throws {SluiceError} `undecryptable`, or a fault of the transport
   */
  async get(id: string, options: RequestOptions = {}): Promise<TaskInfo | null> {
    const found = await this.run(inspectScript, { id: taskId(id) }, [], options);
    return found && openedTask(this.values, readTaskInfo(this.name, id, found), id);
  }

  /**
   * Cancels a task: at once where nobody works on it; otherwise its holder learns of it at the next
   * extend or settle. Cancelling again says the same.
   * @param options.lease the lease number the task must have (as `get` shows it), so that a late copy
   *   of the request cannot meet a later life of the same id
   * @throws {SluiceError}
   */
  async cancel(
    id: string,
    options: RequestOptions & { readonly lease?: number | undefined } = {},
  ): Promise<Cancelled> {
    onlyOptions(options, ["lease", ...REQUEST_OPTIONS]);
    const lease =
      options.lease === undefined ? "" : String(wholeNumber(options.lease, "lease", 0, 2 ** 53 - 1));
    const args = { testNow: this.testNow(), id: taskId(id), lease };
    const status = await this.run(cancelScript, args, [], options);
    return status === "rejected" || status === "working"
      ? { ok: true, state: status }
      : { ok: false, code: status };
  }
}

/**
 * The token of a call with an idempotency key: `<key>.<tasks>`, 11 characters of a hash (65 bits) each. It
 * tells a resend of the call from another call with the same key.
 */
async function callToken(queue: string, key: string, tasks: readonly unknown[]): Promise<string> {
  const parts = [derivedName("enqueue", queue, key), derivedName("tasks", JSON.stringify(tasks))];
  return (await Promise.all(parts)).map((part) => part.slice(0, 11)).join(".");
}

/**
 * What two calls with the same key are compared by: the task as the caller gave it. Defaults of the queue are
 * left out, as they may change with a deployment. So is an encrypted payload: it differs each time, and no hash
 * of it may be kept.
 */
function contentOf(task: EnqueueOptions, payload: string, at: string): readonly string[] {
  const compared = payload.startsWith(`b${ENVELOPE_BASE64}`) ? "" : payload;
  const record = writeFixed({ token: undefined, ...fixedOptions({}, task, at), payload: compared });
  return [whenReady({}, task, at), uniqueness(task, at), record];
}

function whenReady(defaults: TaskDefaults, task: EnqueueOptions, at: string): string {
  if (task.at !== undefined) {
    if (task.delay !== undefined) {
      throw invalidArgument(`${at}at`, `and ${at}delay exclude each other`);
    }
    return String(wholeNumber(task.at, `${at}at`, 0, LAST_DUE));
  }
  const ms = milliseconds(task.delay ?? defaults.delay ?? 0, `${at}delay`);
  return ms > 0 ? `+${ms}` : "";
}

function uniqueness({ id, dedup, ...task }: EnqueueOptions, at: string): string {
  const again = trueOrFalse(task.again ?? false, `${at}again`);
  if (again && id === undefined) {
    throw invalidArgument(`${at}again`, "must have an id beside it");
  }
  if (dedup === undefined) return again ? "again" : "";
  if (again) {
    throw invalidArgument(`${at}again`, "must not stand beside dedup");
  }
  onlyOptions(dedup, ["key", "window"], `${at}dedup.`);
  const window = milliseconds(dedup.window, `${at}dedup.window`, { min: 1 });
  return `${window} ${taskId(dedup.key, `${at}dedup.key`)}`;
}

/** What a task fixes at enqueue, checked, beside its payload. */
export function fixedOptions(defaults: TaskDefaults, task: EnqueueOptions, at: string) {
  const lease = task.lease ?? defaults.lease;
  const maxAttempts = task.maxAttempts ?? defaults.maxAttempts;
  const resultTtl = task.resultTtl ?? defaults.resultTtl;
  const deadTtl = task.deadTtl ?? defaults.deadTtl;
  return {
    lease: lease === undefined ? undefined : milliseconds(lease, `${at}lease`, { min: 1 }),
    maxAttempts:
      maxAttempts === undefined ? undefined : wholeNumber(maxAttempts, `${at}maxAttempts`, 0, 1_000_000),
    resultTtl: resultTtl === undefined ? undefined : milliseconds(resultTtl, `${at}resultTtl`),
    deadTtl: deadTtl === undefined ? undefined : milliseconds(deadTtl, `${at}deadTtl`),
    group: task.group === undefined ? undefined : recordName(task.group, `${at}group`),
    priority: task.priority === undefined ? undefined : wholeNumber(task.priority, `${at}priority`, 0, 9),
    headers: task.headers === undefined ? undefined : checkedHeaders(task.headers, `${at}headers`),
  };
}

function checkedHeaders(headers: Readonly<Record<string, string>>, path: string) {
  const entries = headers !== null && typeof headers === "object" ? Object.entries(headers) : [["", 0]];
  for (const [name, value] of entries) {
    if (name === "" || typeof value !== "string") {
      throw invalidArgument(path, "must be an object of texts with names that are not empty");
    }
  }
  const size = asciiJson(headers).length;
  if (size > MAX_HEADER_BYTES) {
    throw new SluiceError(
      "too_large",
      `${path} have ${size} bytes of JSON; at most ${MAX_HEADER_BYTES} are allowed`,
      path,
    );
  }
  return entries.length > 0 ? headers : undefined;
}
