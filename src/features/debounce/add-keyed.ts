import type { StandardSchemaV1 } from "@standard-schema/spec";
import { invalidArgument, SluiceError } from "../../errors.ts";
import { type CallOfScript, run } from "../../kernel/call.ts";
import { checkAndEncode, newTasks } from "../../kernel/enqueue/new-tasks.ts";
import { refusal } from "../../kernel/enqueue/refusal.ts";
import { TASK_OPTIONS } from "../../kernel/enqueue/task-options.ts";
import { tokenOf } from "../../kernel/call-token.ts";
import type { CheckTask } from "../../kernel/hooks.ts";
import { onAll } from "../../kernel/on-all.ts";
import { newTaskId, newToken } from "../../kernel/names/ids.ts";
import { tagOf } from "../../kernel/names/slots.ts";
import type { EnqueueOptions, RequestOptions, TaskDefaults } from "../../kernel/options/types.ts";
import { onlyOptions, requestKey } from "../../kernel/options/validation.ts";
import type { Shard } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import { ENVELOPE_BASE64 } from "../../kernel/record/envelope.ts";
import { unlessAborted, waitFor } from "../../kernel/unless-aborted.ts";
import type { Values } from "../../kernel/values/values.ts";
import {
  enqueueDebouncedScript,
  enqueueOrReplaceScript,
  enqueueSingleScript,
  enqueueThrottledScript,
  forgetKeyScript,
  type KeyedReply,
} from "./debounce-scripts.ts";
import type { KeyedBy } from "./key-options.ts";
import { placeKeyed } from "./place-keyed.ts";
import type { KeyedEnqueued } from "./types.ts";

/** What an enqueue needs of its queue. */
export interface KeyedParts {
  readonly name: string;
  readonly store: Adds;
  readonly values: Values;
  readonly defaults: TaskDefaults;
  readonly schema: StandardSchemaV1<unknown, unknown> | undefined;
  readonly checkTask?: CheckTask | undefined;
}

/**
 * Adds a task under a key, or changes the one that waits there, in one request.
 * @throws {SluiceError} as `Producer.enqueue`
 */
export async function addKeyed(
  { name, store, values, defaults, schema }: KeyedParts,
  payload: unknown,
  by: KeyedBy,
  { signal, idempotencyKey, ...task }: EnqueueOptions & RequestOptions,
): Promise<KeyedEnqueued> {
  onlyOptions({ ...task, signal }, [...TASK_OPTIONS, "signal"]);
  const key = requestKey({ idempotencyKey });
  const isList = by.does === "debounce" && by.args.keep === "all";
  if (isList) requireJson(payload, values);
  // Of a list, the schema is that of the list.
  const text = await checkAndEncode(schema, { ...task, payload: isList ? [payload] : payload }, "");
  const tasks = newTasks({ name, values, defaults }, [task as never], [text], {
    key,
    at: () => "",
  });
  const [draft] = tasks.drafts;
  const derived = task.id ?? (await draft?.derivedId?.());
  const token = newToken();
  const isSealed = values.areSealed || text.startsWith(`b${ENVELOPE_BASE64}`);
  if (isSealed && !values.areSealed) refuseSealed(by);
  /** @param sealFor the id of the task that waits under the key, if the payload is to replace its */
  const enqueue = (sealFor?: string) =>
    placeKeyed(store, by.key, derived, signal, async (shard, slots, slot) => {
      const id = sealFor ?? derived ?? newTaskId() + (slot === undefined ? "" : tagOf(slot));
      const [item] = await tasks.encode([0], [id]);
      if (!item || "failed" in item) throw item?.failed ?? invalidArgument("payload", "was not encoded");
      const { when, unique, front } = item;
      // The scripts distinguish calls by their tokens, also those that generate ids.
      const record = (/^[^\n]*;t=/.test(front) ? "" : `;t=${token}`) + front + item.payload;
      const sealed = isSealed ? (sealFor ? "2" : "1") : "";
      const args = { wake: store.wakeWindow(), slots, id, when, unique, record };
      const call = callOn(shard, by, args, sealed);
      const reply = await run(store.queue.transport, call, { signal });
      if (reply.status === "ok") call.note?.learn(reply.mustReadSettings);
      return reply;
    });
  const reply = await unlessAborted(signal, async () => {
    let found = await enqueue();
    // A sealed payload is bound to the id of its task, which only Redis knows.
    for (let tries = 0; found.status === "seal" && tries < MAX_TRIES; tries++)
      found = await enqueue(found.id);
    return found;
  });
  if (reply.status === "seal") {
    throw new SluiceError(
      "redis_unreachable",
      "consumers begin the tasks of the key all the time; try again",
    );
  }
  if (reply.status !== "ok") throw refusal(reply.status, name);
  const { outcome, id, wake, dueAt } = reply;
  await waitFor([store.ready({ now: wake, at: dueAt })], signal);
  return { id, created: outcome === "created", outcome };
}

/** How often a sealed payload is sealed again, because a consumer has begun the task meanwhile. */
const MAX_TRIES = 20;

/** A payload that the caller has sealed for one id cannot be that of another task. */
function refuseSealed(by: KeyedBy): void {
  const [name, replaces] =
    by.does === "debounce"
      ? (["debounce.keep", by.args.keep !== "first"] as const)
      : (["singleton.then", by.does === "singleton" && by.args.action === "replace"] as const);
  if (!replaces) return;
  throw invalidArgument(name, "must not replace payloads that a client over HTTP has encrypted");
}

/** Redis puts lists together from JSON texts. It cannot do that with values that it cannot read. */
function requireJson(payload: unknown, { areSealed }: Values): void {
  if (areSealed) {
    throw invalidArgument(
      "debounce.keep",
      'must not be "all" if payloads are encrypted: Redis cannot join them',
    );
  }
  if (payload instanceof Uint8Array) {
    throw invalidArgument("payload", 'must be something that JSON can express, if debounce.keep is "all"');
  }
}

type TaskArguments = Readonly<Record<"wake" | "slots" | "id" | "when" | "unique" | "record", string>>;

function callOn(shard: Shard, by: KeyedBy, task: TaskArguments, sealed: string): CallOfScript<KeyedReply> {
  const note = shard.note();
  switch (by.does) {
    case "debounce":
      return shard.call(enqueueDebouncedScript, { ...task, ...by.args, sealed }, [], note);
    case "throttle":
      return shard.call(enqueueThrottledScript, { ...task, ...by.args }, [], note);
    case "singleton":
      return shard.call(enqueueSingleScript, { ...task, ...by.args, sealed }, [], note);
    default:
      return shard.call(enqueueOrReplaceScript, task, [], note);
  }
}

/** Forgets a key in all shards: see `withDebounce`. */
export async function forgetKey(store: Adds, key: string, options: RequestOptions): Promise<boolean> {
  const token = await tokenOf(store.queue, "forget-key", options);
  const replies = await onAll(store, (shard) => shard.call(forgetKeyScript, { key, token }), options);
  return [...replies.values()].includes(true);
}

/** What sends requests on a queue over HTTP. */
interface Requests {
  request<Reply>(
    path: string,
    options: RequestOptions,
    call: { readonly method: "DELETE"; readonly replyField: string },
  ): Promise<Reply>;
}

/** Forgets a key over HTTP. @param queue of a client */
export async function forgetKeyByRequest(
  queue: object,
  key: string,
  options: RequestOptions,
): Promise<boolean> {
  const call = { method: "DELETE", replyField: "known" } as const;
  const path = `/keys/${encodeURIComponent(key)}`;
  return (await (queue as Requests).request<{ readonly known: boolean }>(path, options, call)).known;
}
