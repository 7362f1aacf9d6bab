/** New tasks: their drafts, and how they are encoded once their ids are known. */
import type { StandardSchemaV1 } from "@standard-schema/spec";
import { newToken } from "../names/ids.ts";
import { MAX_VALUE_BYTES } from "../options/limits.ts";
import { all, andThen, type MaybePromise } from "../maybe-promise.ts";
import { OnDemand } from "../on-demand.ts";
import { plainJson } from "../record/plain-json.ts";
import { byteLength } from "../record/byte-length.ts";
import { ENVELOPE_OVERHEAD } from "../record/envelope.ts";
import { asciiJson, writeFixed } from "../record/record.ts";
import type { AddHeaders } from "../hooks.ts";
import type { NewTask, TaskDefaults } from "../options/types.ts";
import { taskId } from "../options/validation.ts";
import { fixedOptions, uniqueness, whenReady } from "./task-options.ts";
import type { Values } from "../values/values.ts";
import type { AddBatch, Item } from "../store.ts";

/** What looks at a payload that is not plain JSON. */
const codec = new OnDemand(() => import("../record/codec.ts"));

/**
 * The payload as the codec writes it, checked by the schema. Without a schema the result is a promise only while the
 * codec is loaded, at the first payload that is not plain JSON.
 * @param limit of the payload, bytes. @default 1 MiB
 * @param at what errors put before the names of options, such as `tasks[3].`
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export function checkAndEncode<In, Out>(
  schema: StandardSchemaV1<In, Out> | undefined,
  { id, payload }: NewTask<In>,
  at: string,
  limit: number = MAX_VALUE_BYTES,
): MaybePromise<string> {
  if (id !== undefined) taskId(id, `${at}id`);
  const path = `${at}payload`;
  if (schema) return encodeBySchema(schema, payload, path, limit);
  const json = codec.isLoading ? undefined : plainJson(payload, limit);
  if (json !== undefined) return `j${json}`;
  return codec.use(({ encodePayload }) => encodePayload(payload, path, limit));
}

async function encodeBySchema<In, Out>(
  schema: StandardSchemaV1<In, Out>,
  payload: In,
  path: string,
  limit: number,
): Promise<string> {
  const { encodeChecked } = await import("./schema.ts");
  return encodeChecked(schema, payload, path, limit);
}

/** The queue of new tasks. */
interface NewTasksParts {
  readonly name: string;
  readonly values: Values;
  readonly defaults: TaskDefaults;
}

/** What new tasks of one call have in common. */
export interface NewTasksOptions {
  /** The idempotency key of the call. */
  readonly key: string | undefined;
  /** What errors put before the names of a task's options. */
  readonly at: (place: number) => string;
  /**
   * Adds headers to those of each task. They are not compared when an idempotency key comes again: a resend of the call
   * may have others. @default none
   */
  readonly addHeaders?: AddHeaders | undefined;
}

/**
 * The tasks of one call as a batch.
 * @param texts the results of {@link checkAndEncode}, in the order of the tasks
 * @throws {SluiceError} `invalid_argument`, `too_large`
 */
export function newTasks(
  { name, values, defaults }: NewTasksParts,
  tasks: readonly NewTask<unknown>[],
  texts: readonly string[],
  { key, at, addHeaders }: NewTasksOptions,
): Pick<AddBatch, "drafts" | "encode"> {
  let derived: Promise<(place: number) => string> | undefined;
  const derivedId = async (place: number) => {
    derived ??= import("./idempotency.ts").then(({ derivedTaskIds }) => derivedTaskIds(name, key as string));
    return (await derived)(place);
  };
  const plans = tasks.map((task, place) => planned(defaults, task, at(place), addHeaders));
  const drafts = tasks.map(({ id, group, dedup }, place) => ({
    id,
    group,
    dedup,
    derivedId: id === undefined && key !== undefined ? () => derivedId(place) : undefined,
    path: (plans[place] as Plan).path,
    bytes: () => mostBytes(values, texts[place] ?? "", plans[place] as Plan),
  }));
  let keyToken: Promise<string> | undefined;
  const tokenFor = (sealed: readonly string[]) => {
    if (key === undefined) return undefined;
    return (keyToken ??= import("./idempotency.ts").then(({ tokenOfKey }) =>
      tokenOfKey(name, key, tasks, sealed, at),
    ));
  };
  let ownToken: string | undefined;
  const seal = (places: readonly number[], ids: readonly string[]) =>
    all(places, (place, i) =>
      values.seal(
        { kind: "payload", id: ids[i] as string },
        texts[place] ?? "",
        `${plans[place]?.path}payload`,
      ),
    );
  const encode: AddBatch["encode"] = (places, ids) =>
    andThen(seal(places, ids), (sealed) =>
      andThen(tokenFor(sealed), (derived) =>
        places.map((place, i): Item => {
          const { when, unique, fixed } = plans[place] as Plan;
          // A generated id is known to its producer only, so it needs no token.
          const token = derived ?? (tasks[place]?.id === undefined ? undefined : (ownToken ??= newToken()));
          const front = writeFixed({ token, ...fixed, payload: "" });
          return { id: ids[i] as string, when, unique, front, payload: sealed[i] ?? "" };
        }),
      ),
    );
  return { drafts, encode };
}

type Plan = ReturnType<typeof planned>;

/** Most bytes of a record, about: a sealed payload is base64. */
function mostBytes({ areSealed }: Values, text: string, { fixed: { headers } }: Plan): number {
  // A short text is not counted.
  const payload = byteLength(text, 3_000);
  const sealed = areSealed ? ((payload + ENVELOPE_OVERHEAD) / 3) * 4 : payload;
  return headers ? sealed + asciiJson(headers).length : sealed;
}

/** The options of a task, checked, and as the script takes them; with what errors put before their names. */
function planned(
  defaults: TaskDefaults,
  task: NewTask<unknown>,
  path: string,
  addHeaders: NewTasksOptions["addHeaders"],
) {
  const fixed = fixedOptions(defaults, task, path);
  return {
    path,
    when: whenReady(defaults, task, path),
    unique: uniqueness(task, path),
    fixed: addHeaders ? { ...fixed, headers: addHeaders(fixed.headers) } : fixed,
  };
}
