import { messageOf, newerSchema, SluiceError } from "../errors.ts";
import { decodeValue } from "../queue/core/codec.ts";
import { derivedName } from "../queue/core/ids.ts";
import { queueKeys } from "../queue/core/keys.ts";
import { escaped, onlyOptions, unescaped } from "../queue/core/validation.ts";
import { Operator } from "../queue/operate/operator.ts";
import type { QueueChanges } from "../queue/operate/settings.ts";
import { callOf } from "../queue/redis/binding.ts";
import { declareScript } from "../queue/redis/operate-scripts.ts";
import { lastReply, replyAt } from "../queue/redis/replies.ts";
import { checkedTransport, type Transport } from "../queue/redis/transport.ts";
import { Schedules } from "../queue/schedules/schedules.ts";
import { checkedPayload } from "../queue/tasks/schema.ts";
import { decryptValue, encryptValue, type ValuesQueue } from "../queue/values/encryption.ts";
import type { DeclaredQueue } from "./define-queue.ts";

export interface ApplyOptions {
  /** First part of every key. @default "sluice" */
  readonly prefix?: string | undefined;
  /** Aborts the requests; the call then throws `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** For tests only: the clock (epoch ms) instead of Redis's. */
  readonly now?: (() => number) | undefined;
}

export interface ApplyReport {
  /** Queues whose settings and schedules were applied. The others had been applied before. */
  readonly applied: readonly string[];
  /** Queues that another caller was applying at the same time. Call again to see that it has ended. */
  readonly deferred: readonly string[];
  /** Queues that could not be applied completely, each with its error. The next call tries again. */
  readonly failed: readonly { readonly queue: string; readonly code: string; readonly message: string }[];
}

/** The field of `tasks` that holds what was applied last. */
const FIELD = "~declared";

/**
 * Applies the settings and schedules of declared queues, if their declarations have changed since the last call.
 * What an operator has changed since then stays. Settings and schedules that are no longer declared are unset and
 * removed; those that were never declared stay. Deployments call it with their cron, and servers at their start.
 * One request of one Redis command for each queue; more only for queues whose declarations have changed.
 * @returns which queues were applied, and which failed
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the report
 * @example await applyQueues(upstash(env), [emails, reports]);
 */
export async function applyQueues(
  transport: Transport,
  queues: readonly DeclaredQueue[],
  options: ApplyOptions = {},
): Promise<ApplyReport> {
  onlyOptions(options, ["prefix", "signal", "now"]);
  const applied: string[] = [];
  const deferred: string[] = [];
  const failed: ApplyReport["failed"][number][] = [];
  if (queues.length === 0) return { applied, deferred, failed };
  const reads = queues.map(({ name }) => ["HGET", queueKeys(name, options.prefix).tasks, FIELD] as const);
  const outcomes = await checkedTransport(transport).send(reads, options);
  for (const [i, queue] of queues.entries()) {
    try {
      const stored = replyAt(outcomes, i);
      const result = await apply(transport, queue, typeof stored === "string" ? stored : "", options);
      if (result === "applied") applied.push(queue.name);
      if (result === "deferred") deferred.push(queue.name);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      const code = error instanceof SluiceError ? error.code : "unexpected_reply";
      failed.push({ queue: queue.name, code, message: messageOf(error) });
    }
  }
  return { applied, deferred, failed };
}

/** @returns `deferred` if another caller has applied a declaration meanwhile */
async function apply(
  transport: Transport,
  queue: DeclaredQueue,
  stored: string,
  { prefix, signal, now }: ApplyOptions,
): Promise<"applied" | "unchanged" | "deferred"> {
  const { name, settings, schedules } = queue;
  const { encryption } = queue.options;
  const values: ValuesQueue = { name, encryption };
  const before = await readApplied(stored, values);
  const declared: Applied = {
    settings: Object.keys(settings),
    schedules: Object.keys(schedules),
    hash: await derivedName("declared", JSON.stringify([settings, schedules])),
  };
  const nothing = declared.settings.length === 0 && declared.schedules.length === 0;
  if (declared.hash === before.hash || (nothing && stored === "")) return "unchanged";

  const record = async (was: string, applied: Applied): Promise<string | undefined> => {
    const text = await writeApplied(applied, values);
    const call = callOf(declareScript, queueKeys(name, prefix), { was, record: text });
    const recorded = declareScript.decode(lastReply(await transport.send([call], { signal })));
    return recorded ? text : undefined;
  };
  // Recorded first, so that of callers that have read the same record one goes on, and that after a failure the next
  // call does all again.
  const begun = await record(stored, {
    settings: union(before.settings, declared.settings),
    schedules: union(before.schedules, declared.schedules),
    hash: `applying ${crypto.randomUUID()}`,
  });
  if (begun === undefined) return "deferred";

  const base = { transport, prefix, now, encryption };
  const unset = before.settings.filter((setting) => !Object.hasOwn(settings, setting));
  const changes: QueueChanges = {
    ...Object.fromEntries(unset.map((setting) => [setting, null])),
    ...settings,
  };
  if (Object.keys(changes).length > 0) await new Operator(name, base).configure(changes, { signal });
  const timetable = new Schedules(name, base);
  const removed = before.schedules.filter((schedule) => !Object.hasOwn(schedules, schedule));
  for (const schedule of removed) await timetable.remove(schedule, { signal });
  const errors: unknown[] = [];
  for (const [schedule, task] of Object.entries(schedules)) {
    try {
      await checkedPayload(queue.options.schema, task.payload, `schedules.${schedule}.payload`);
      await timetable.put(schedule, task, { signal });
    } catch (error) {
      // One that cannot be put must not keep out the others.
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
  return (await record(begun, declared)) === undefined ? "deferred" : "applied";
}

function union(first: readonly string[], then: readonly string[]): readonly string[] {
  return [...new Set([...first, ...then])];
}

/** What was applied last: the names of settings and schedules, and a hash of the declaration. */
interface Applied {
  readonly settings: readonly string[];
  readonly schedules: readonly string[];
  /** Undefined if nothing was applied, or the hash cannot be decrypted. No hash while a call applies. */
  readonly hash: string | undefined;
}

/** The hash is encrypted as the payloads of schedules are: it must not help to guess them. */
const HASH = { kind: "schedule", id: FIELD } as const;

async function writeApplied({ settings, schedules, hash }: Applied, values: ValuesQueue): Promise<string> {
  const text = await encryptValue(values, HASH, `j${JSON.stringify(hash)}`, "schedules");
  return `1;${settings.join()};${schedules.map(escaped).join(" ")}\n${text}`;
}

/** @throws {SluiceError} `newer_schema`, `unexpected_reply` */
async function readApplied(record: string, values: ValuesQueue): Promise<Applied> {
  if (record === "") return { settings: [], schedules: [], hash: undefined };
  if (/^(?!1;)\d+;/.test(record)) throw newerSchema("the declaration that was applied last");
  const [line = "", text = ""] = record.split("\n");
  const [, settings = "", schedules = ""] = line.split(";");
  return {
    settings: settings.split(",").filter(Boolean),
    schedules: schedules.split(" ").filter(Boolean).map(unescaped),
    hash: await readHash(text, values),
  };
}

async function readHash(text: string, { name: queue, encryption }: ValuesQueue): Promise<string | undefined> {
  try {
    return (await decryptValue(encryption, decodeValue(text), { ...HASH, queue })) as string;
  } catch {
    // After a change of keys the declaration counts as changed.
    return undefined;
  }
}
