import { configureQueue, readQueueSettings } from "../../operate/configure.ts";
import { operatedQueue } from "../../open/operated-store.ts";
import { opened } from "../../open/options.ts";
import { errorAt, messageOf, newerSchema, SluiceError } from "../../errors.ts";
import { schedules } from "../../open/schedules/index.ts";
import type { SchedulesPart } from "../../open/schedules/part.ts";
import { opening } from "../../open/opening.ts";
import { pick } from "../../pick.ts";
import { decodeValue } from "../../kernel/record/codec.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import { type Call, commandCall } from "../../kernel/call.ts";
import { escaped, onlyOptions, unescaped } from "../../kernel/options/validation.ts";
import { type QueueChanges, queueChanges } from "../../operate/settings.ts";
import { declarePartitions } from "../../features/partitions/operate.ts";
import { exchangeByName, type ShardReplies } from "../../features/partitions/stored-maps.ts";
import { declareScript } from "../../operate/operate-scripts.ts";
import { configure } from "../../lua/linked/configure.gen.ts";
import type { Shard } from "../../kernel/shard.ts";
import { type Script, type Transport, withPrefix } from "../../kernel/transport.ts";
import { DEFAULT_OPTIONS } from "../../kernel/options/default-options.ts";
import { encodeChecked } from "../../kernel/enqueue/schema.ts";
import { encrypted } from "../../features/encryption/index.ts";
import { plainValues, type Values } from "../../kernel/values/values.ts";
import { canonicalDeclaration } from "./canonical.ts";
import { changedSettings, type DeclaredChanges } from "./declared-changes.ts";
import type { DeclaredQueue } from "./define-queue.ts";

export interface ApplyOptions {
  /** First part of every key. @default that of the transport, or "sluice" */
  readonly prefix?: string | undefined;
  /** Aborts the requests; the call then throws `aborted`. */
  readonly signal?: AbortSignal | undefined;
  /** Called with what applying a declaration has changed, also if it could not be applied completely. */
  readonly onChanges?: ((queue: string, changes: DeclaredChanges) => void) | undefined;
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

/** What declarations are applied with. */
interface Means {
  /** Changes settings. @default the plain edition, which sets no strict order, unless the transport brings the linked one */
  readonly script?: Script | undefined;
  /** The code of schedules, if they are on. */
  readonly schedules: SchedulesPart | undefined;
}

type Applying = ApplyOptions & Means;

/** The field of `tasks` that holds what was applied last. */
const FIELD = "~declared";

/**
 * Applies the settings and schedules of declared queues, if their declarations have changed since the last call.
 * What an operator has changed since then stays. Settings and schedules that are no longer declared are unset and
 * removed; those that were never declared stay. Deployments call it with their cron, and servers at their start.
 * It takes one request, with one Redis command for each queue. Queues whose declarations have changed take more.
 * @returns which queues were applied, and which failed
 * @throws {SluiceError} `invalid_argument`, or if Redis cannot be reached. A fault of one queue is in the report
 * @example await applyQueues(upstash(env), [emails, reports]);
 */
export function applyQueues(
  transport: Transport,
  queues: readonly DeclaredQueue[],
  given: ApplyOptions = {},
): Promise<ApplyReport> {
  return applyDeclared(transport, queues, given, { script: configure, schedules });
}

/**
 * Does what `applyQueues` does, for deployments.
 */
export async function applyDeclared(
  transport: Transport,
  queues: readonly DeclaredQueue[],
  given: ApplyOptions,
  means: Means,
): Promise<ApplyReport> {
  onlyOptions(given, ["prefix", "signal", "onChanges", "now"]);
  const options: Applying = { ...withPrefix(transport, given), ...means };
  const applied: string[] = [];
  const deferred: string[] = [];
  const failed: ApplyReport["failed"][number][] = [];
  if (queues.length === 0) return { applied, deferred, failed };
  const names = queues.map(({ name }) => name);
  const found = await onFirst(transport, names, readField, options);
  for (const queue of queues) {
    try {
      const result = await apply(transport, queue, found(queue.name), options);
      if (result === "applied") applied.push(queue.name);
      if (result === "deferred") deferred.push(queue.name);
    } catch (error) {
      if (options.signal?.aborted) throw error;
      const code = error instanceof SluiceError ? error.code : "unexpected_reply";
      const isOfInput = error instanceof SluiceError && error.path !== undefined;
      const message = messageOf(isOfInput ? errorAt(`${queue.name}.`, error) : error);
      failed.push({ queue: queue.name, code, message });
    }
  }
  return { applied, deferred, failed };
}

const readField = ({ keys }: Shard) =>
  commandCall(["HGET", keys.tasks, FIELD], (reply) => (typeof reply === "string" ? reply : ""));

/** Sends a call to the shard of place 0 of each queue. @returns what returns its reply, or throws its error */
async function onFirst<T>(
  transport: Transport,
  names: readonly string[],
  callOf: (shard: Shard) => Call<T>,
  { prefix, signal }: ApplyOptions,
): Promise<(name: string) => T> {
  const callsOf = (shard: Shard) => [callOf(shard)] as const;
  const found = await exchangeByName({ transport, prefix }, names, callsOf, { signal }, { first: true });
  return (name) => {
    const [{ replies }] = found.get(name) as [ShardReplies<readonly [Call<T>]>];
    return replies[0]();
  };
}

/** @returns `deferred` if another caller began to apply a declaration meanwhile */
async function apply(
  transport: Transport,
  queue: DeclaredQueue,
  stored: string,
  options: Applying,
): Promise<"applied" | "unchanged" | "deferred"> {
  const { name, schedules } = queue;
  const settings = settingsOf(queue);
  const values = encrypted(plainValues(), name, queue.options.encryption);
  // Schedules keep the defaults of their tasks.
  const defaults = Object.keys(schedules).length > 0 ? pick(queue.options, DEFAULT_OPTIONS) : {};
  const before = await readApplied(stored, values);
  const declared = {
    settings: Object.keys(settings),
    schedules: Object.keys(schedules),
    hash: await derivedName("declared", canonicalDeclaration(settings, schedules, defaults)),
  };
  const nothing = declared.settings.length === 0 && declared.schedules.length === 0;
  if (declared.hash === before.hash || (nothing && stored === "")) return "unchanged";

  const send = async <T>(callOf: (shard: Shard) => Call<T>): Promise<T> =>
    (await onFirst(transport, [name], callOf, options))(name);
  const record = async (was: string, applied: Applied): Promise<string | undefined> => {
    const text = await writeApplied(applied, values);
    const recorded = await send((shard) => shard.call(declareScript, { was, record: text }));
    return recorded ? text : undefined;
  };
  /** Makes the next call apply all again, because another caller's record may name what this call has overwritten. */
  const invalidateOther = async (): Promise<void> => {
    let done = false;
    while (!done) {
      const found = await send(readField);
      const { hash, ...names } = await readApplied(found, values);
      if (hash?.endsWith(declared.hash)) return;
      const both = union(names, declared);
      if (hash === undefined && countOf(both) === countOf(names)) return;
      done = (await record(found, { ...both, hash: undefined })) !== undefined;
    }
  };
  // Recorded first. Of several callers that have read the same record, only one goes on; after a failure, the next
  // call applies all again.
  const hash = `applying ${crypto.randomUUID()} ${declared.hash}`;
  const begun = await record(stored, { ...union(before, declared), hash });
  if (begun === undefined) return "deferred";
  try {
    const changes: DeclaredChanges = {};
    try {
      await write(transport, queue, before, options, changes);
    } finally {
      if (Object.values(changes).some((part) => part !== undefined)) options.onChanges?.(name, changes);
    }
    if ((await record(begun, declared)) !== undefined) return "applied";
  } catch (error) {
    await invalidateOther().catch(() => {});
    throw error;
  }
  await invalidateOther();
  return "deferred";
}

/** The settings of a declaration, and its number of partitions. */
function settingsOf({ settings, partitions }: DeclaredQueue) {
  return partitions === undefined ? settings : { ...settings, partitions };
}

/**
 * Writes the settings and schedules of a declaration, without those that only the one before had.
 * @param changed receives what has changed
 */
async function write(
  transport: Transport,
  queue: DeclaredQueue,
  before: Names,
  { prefix, signal, now, onChanges, script, schedules: part }: Applying,
  changed: DeclaredChanges,
): Promise<void> {
  const { name, partitions, settings, schedules, options } = queue;
  const open = opening({ transport, prefix, now, schedules: part })(queue);
  // Before the settings, whose limits are spread over the partitions.
  if (partitions !== undefined || before.settings.includes("partitions")) {
    await declarePartitions({ name, prefix, transport, now, signal }, partitions ?? 1);
  }
  const unset = before.settings.filter((setting) => {
    return setting !== "partitions" && !Object.hasOwn(settings, setting);
  });
  const changes: QueueChanges = {
    ...Object.fromEntries(unset.map((setting) => [setting, null])),
    ...settings,
  };
  if (Object.keys(changes).length > 0) {
    const own = operatedQueue(opened(open.definition, open.options));
    const items = queueChanges(changes);
    const from = onChanges && (await readQueueSettings(own, { signal }));
    const to = await configureQueue(own, items, { signal }, script);
    changed.settings = from && changedSettings(changes, from, to);
  }
  const removed = before.schedules.filter((one) => !Object.hasOwn(schedules, one));
  if (removed.length + Object.keys(schedules).length === 0) return;
  const timetable = open.schedules();
  for (const schedule of removed) {
    const { ok } = await timetable.remove(schedule, { signal });
    if (ok) changed.removed = [...(changed.removed ?? []), schedule];
  }
  const errors: unknown[] = [];
  for (const [schedule, task] of Object.entries(schedules)) {
    try {
      await encodeChecked(options.schema, task.payload, `schedules.${schedule}.payload`);
      await timetable.put(schedule, task, { signal }).catch((error: unknown) => {
        throw errorOfSchedule(schedule, error);
      });
      changed.put = [...(changed.put ?? []), schedule];
    } catch (error) {
      // One that cannot be put must not keep out the others.
      errors.push(error);
    }
  }
  if (errors.length > 0) throw errors[0];
}

/** The error of a schedule, with its place in the declaration if it is about the input. */
function errorOfSchedule(name: string, error: unknown): unknown {
  if (!(error instanceof SluiceError) || error.path === undefined) return error;
  const at = `schedules.${name}`;
  if (!error.path.startsWith("schedule")) return errorAt(`${at}.`, error);
  // The schedule as a whole, or an unknown option of it.
  const placed = (text: string) => at + text.slice("schedule".length);
  return new SluiceError(error.code, placed(error.message), placed(error.path), error.issues);
}

type Names = Pick<Applied, "settings" | "schedules">;

function countOf({ settings, schedules }: Names): number {
  return settings.length + schedules.length;
}

function union(first: Names, then: Names): Names {
  const settings = [...new Set([...first.settings, ...then.settings])];
  const schedules = [...new Set([...first.schedules, ...then.schedules])];
  return { settings, schedules };
}

/** What was applied last: the names of settings and schedules, and a hash of the declaration. */
interface Applied {
  readonly settings: readonly string[];
  readonly schedules: readonly string[];
  /**
   * Undefined if nothing was applied, the hash cannot be decrypted, or it is not known which of two declarations the
   * queue has. While a call applies, the hash follows after `applying` and a random word.
   */
  readonly hash: string | undefined;
}

/** The hash is encrypted as the payloads of schedules are: it must not help to guess them. */
const HASH = { kind: "schedule", id: FIELD } as const;

async function writeApplied({ settings, schedules, hash }: Applied, values: Values): Promise<string> {
  const text = await values.seal(HASH, `j${JSON.stringify(hash ?? null)}`, "schedules");
  return `1;${settings.join()};${schedules.map(escaped).join(" ")}\n${text}`;
}

/** @throws {SluiceError} `newer_schema`, `unexpected_reply` */
async function readApplied(record: string, values: Values): Promise<Applied> {
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

async function readHash(text: string, values: Values): Promise<string | undefined> {
  try {
    const hash = await values.open(HASH, decodeValue(text));
    return typeof hash === "string" ? hash : undefined;
  } catch {
    // After a change of keys the declaration counts as changed.
    return undefined;
  }
}
