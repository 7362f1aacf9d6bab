import type { StandardSchemaV1 } from "@standard-schema/spec";
import type { DrainOptions } from "../../drain/types.ts";
import { invalidArgument } from "../../errors.ts";
import { pick } from "../../pick.ts";
import { checkBackoff } from "../../kernel/options/backoff.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import { checkedTracing, type Tracing } from "../../features/tracing/types.ts";
import type { TaskDefaults } from "../../kernel/options/types.ts";
import { onlyOptions, replyBytes } from "../../kernel/options/validation.ts";
import { queueChanges, type QueueChanges } from "../../operate/settings.ts";
import { partitionCount } from "../../features/partitions/index.ts";
import type { Transport } from "../../kernel/transport.ts";
import { scheduleName, type NewSchedule } from "../../features/schedules/index.ts";
import { DEFAULT_OPTIONS } from "../../kernel/options/default-options.ts";
import type { DefinedOptions } from "../../open/definition.ts";
import { fixedOptions, whenReady } from "../../kernel/enqueue/task-options.ts";
import { checkedSchema } from "../../kernel/enqueue/checked-schema.ts";
import type { Subscribes } from "../../open/topics/definition.ts";
import type { Waker } from "../../features/waking/index.ts";
import type { Encryption } from "../../features/encryption/index.ts";
import type { Offload } from "../../features/offload/types.ts";

/** A value, or a function that returns it. The function is called at the first use, when the environment is known. */
export type OrMade<T> = T | (() => T);

/** What a queue is: the defaults of its tasks, its settings, its schedules, and how its tasks are handled. */
export interface QueueDeclaration<In = unknown, Out = In>
  extends TaskDefaults, DeclaredSettings, Pick<DrainOptions, "backoff" | "timeout"> {
  /**
   * Checks payloads at enqueue and at dequeue, and gives them their types: any Standard Schema (zod, valibot,
   * arktype, …).
   * @default no check
   */
  readonly schema?: StandardSchemaV1<In, Out> | undefined;
  /** Most bytes of payloads in one dequeue. It returns at least one task anyway. @default 8 MB */
  readonly maxBytes?: number | undefined;
  /**
   * Over how many partitions the tasks are spread, 1 to 62. A deployment changes their number once for each change
   * of the declaration, while the queue is in use. See docs/partitions.md.
   * @default 1
   */
  readonly partitions?: number | undefined;
  /** Encrypts payloads, results, errors and progress: `encryption()`. @default no encryption */
  readonly encryption?: OrMade<Encryption> | undefined;
  /**
   * Keeps large payloads in an object store: `offload()` of `sluice-queue/offload`. A deployment uses it instead of
   * its own. @default that of the deployment
   */
  readonly offload?: OrMade<Offload> | undefined;
  /**
   * The schedules, by name. A deployment creates them, replaces those that change, and removes those that are
   * no longer declared. It does not change schedules that were put in another way.
   * @default none
   */
  readonly schedules?: Readonly<Record<string, NewSchedule<NoInfer<In>>>> | undefined;
  /**
   * The topics of whose messages the queue gets copies: a topic, a pattern such as `orders.*` or `orders.#`, a pair of
   * that and `{ filter, since }`, or an array of these. A deployment with `topics` adds such subscriptions, and removes
   * those that are no longer declared. It does not change those of operators.
   * @default none
   */
  readonly subscribes?: Subscribes | readonly Subscribes[] | undefined;
  /**
   * How the queue's own methods, such as `emails.enqueue(…)`, reach Redis: for example `upstash`. Deployments use
   * their own transport instead. While a server (`serve`) runs, the queue's own methods use that of the server.
   * @default none: `new Queue(emails, { transport })` and deployments work, the queue's own methods throw
   */
  readonly transport?: OrMade<Transport> | undefined;
  /**
   * First part of every key that the queue's own methods use.
   * @default that of the transport, else the process's variable `SLUICE_PREFIX`, else "sluice"
   */
  readonly prefix?: string | undefined;
  /** Wakes a consumer after an enqueue by the queue's own methods. @default none: cron starts consumers */
  readonly wake?: OrMade<Waker> | undefined;
  /**
   * Traces the enqueues of the queue's own methods: `openTelemetry()` of `sluice-queue/opentelemetry`. A
   * deployment has its own option `tracing`.
   * @default no traces
   */
  readonly tracing?: Tracing | undefined;
}

/** The settings of a declared queue. A deployment applies them once for each change. */
export type DeclaredSettings = {
  readonly [Name in keyof QueueChanges]: NonNullable<QueueChanges[Name]> | undefined;
};

/** The names of {@link DeclaredSettings}. */
export const SETTINGS = [
  "maxWorking",
  "rate",
  "maxPending",
  "events",
  "statistics",
  "order",
  "onDead",
] as const satisfies readonly (keyof DeclaredSettings)[];

/** The options of a declaration that are those of a `Queue`. */
export const DEFINED_OPTIONS = [
  ...DEFAULT_OPTIONS,
  "schema",
  "maxBytes",
  "partitions",
  "encryption",
  "offload",
] as const satisfies readonly (keyof DefinedOptions<unknown, unknown>)[];

/** The options of {@link QueueDeclaration}. */
const OPTIONS = [
  ...DEFINED_OPTIONS,
  ...SETTINGS,
  "backoff",
  "timeout",
  "schedules",
  "subscribes",
  "transport",
  "prefix",
  "wake",
  "tracing",
] as const satisfies readonly (keyof QueueDeclaration)[];

/** Most schedules that a queue can declare. */
export const MAX_SCHEDULES = 100;

/**
 * Checks a declaration, except its schedules: `sluice()` and `serve` check them, and their payloads against the schema
 * when they are applied.
 * @throws {SluiceError} `invalid_argument`
 */
export function checkDeclaration<In, Out>(declaration: QueueDeclaration<In, Out>): void {
  onlyOptions(declaration, OPTIONS);
  const { schema, maxBytes, partitions = 1, tracing, backoff, timeout, schedules = {} } = declaration;
  checkedSchema(schema);
  checkedTracing(tracing);
  replyBytes(maxBytes);
  partitionCount(partitions);
  const defaults = pick(declaration, DEFAULT_OPTIONS);
  fixedOptions({}, defaults, "");
  whenReady(defaults, {}, "");
  if (backoff !== undefined) checkBackoff(backoff);
  if (timeout !== undefined) milliseconds(timeout, "timeout", { min: 1 });
  if (typeof schedules !== "object" || schedules === null || Array.isArray(schedules)) {
    throw invalidArgument("schedules", "must be an object of schedules by name");
  }
  const names = Object.keys(schedules);
  if (names.length > MAX_SCHEDULES) throw invalidArgument("schedules", `must be at most ${MAX_SCHEDULES}`);
  for (const name of names) scheduleName(name, `schedules.${name}`);
  queueChanges(pick(declaration, SETTINGS));
}
