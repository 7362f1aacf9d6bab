import * as v from "valibot";
import { invalidFields, type FieldFault } from "../problems/problem.ts";

/** More faults than this help nobody. */
export const maxFaults = 100;

/**
 * The value, if it fits the schema.
 * @throws {Problem} invalid_request with every fault and where it is
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value, { message: wording, abortPipeEarly: true });
  if (parsed.success) return parsed.output;
  throw invalidFields(faultsOf(parsed.issues));
}

export function faultsOf(issues: readonly v.BaseIssue<unknown>[]): FieldFault[] {
  return issues
    .slice(0, maxFaults)
    .map((issue) => ({ path: pathOf(issue.path ?? []), message: issue.message }));
}

/** Such as `tasks[3].headers.trace`. */
function pathOf(items: readonly { readonly key?: unknown }[]): string {
  return items.reduce((path, { key }) => {
    if (typeof key === "number") return `${path}[${key}]`;
    return path === "" ? String(key) : `${path}.${String(key)}`;
  }, "");
}

/** What is said where a schema has no message of its own. Never the value: it may be a payload. */
export function wording(issue: v.BaseIssue<unknown>): string {
  if (issue.received === "undefined") return "is required";
  return `must be ${nouns[issue.type] ?? "valid"}`;
}

const nouns: Readonly<Record<string, string>> = {
  array: "an array",
  boolean: "true or false",
  number: "a number",
  strict_object: "an object",
  string: "a string",
};

/** The same schema, but no array counts as an object, as it does for valibot. */
export function noArray<Schema extends v.GenericSchema>(schema: Schema): Schema {
  return {
    ...schema,
    "~run": (dataset: v.UnknownDataset, config: Config) =>
      schema["~run"](Array.isArray(dataset.value) ? { value: null } : dataset, config),
  };
}

/**
 * An object with these fields and no others. Stricter than valibot's own strict object, which takes an array for an object
 * and tells of the first unknown field only. It is also several times as fast: V8 optimizes valibot's
 * loop over the fields of nested objects again and again, each time in vain.
 */
export function fields<const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> {
  const strict = noArray(v.strictObject(entries));
  const known = Object.entries(entries).map(([key, field]) => {
    return { key, field, required: field.type !== "exact_optional" };
  });
  const run = (dataset: v.UnknownDataset, config: Config) => {
    const { value: input } = dataset;
    // It says what an object is.
    if (!isObject(input)) return strict["~run"](dataset, config);
    const result: Result<Record<string, unknown>> = { typed: true, value: {}, issues: undefined };
    for (const { key, field, required } of known) {
      if (Object.hasOwn(input, key)) {
        result.value[key] = runPart(result, field, ["object", input, key], config);
      } else if (required) {
        refuseField(result, input, key, "is required");
      }
    }
    const unknown = Object.keys(input).filter((key) => !Object.hasOwn(entries, key));
    for (const key of unknown.slice(0, maxFaults)) {
      refuseField(result, input, key, "is not a known field");
    }
    return result;
  };
  return { ...strict, "~run": run as unknown as (typeof strict)["~run"] };
}

/**
 * A list of at most so many items. A longer one is refused before any item is looked at, and no more faults of items are kept
 * than are told: those of millions of wrong items would take gigabytes.
 */
export function list<Item extends v.GenericSchema>(item: Item, most: number, message: string) {
  const all = v.array(item);
  const run = (dataset: v.UnknownDataset, config: Config) => {
    const { value: input } = dataset;
    if (!Array.isArray(input)) return all["~run"](dataset, config);
    // The bound behind it says so.
    if (input.length > most) return { typed: true, value: input };
    const result: Result<unknown[]> = { typed: true, value: [], issues: undefined };
    for (let at = 0; at < input.length && (result.issues?.length ?? 0) < maxFaults; at++) {
      result.value.push(runPart(result, item, ["array", input, at], config));
    }
    return result;
  };
  const bounded: typeof all = { ...all, "~run": run as unknown as (typeof all)["~run"] };
  return v.pipe(bounded, v.maxLength(most, message));
}

type Config = v.Config<v.BaseIssue<unknown>>;

/** What the schema of an object or a list says. */
interface Result<Value> {
  typed: boolean;
  readonly value: Value;
  issues: v.BaseIssue<unknown>[] | undefined;
}

/** Of an object or a list: which of the two, itself, and the key of one of its parts. */
type Place = readonly ["object" | "array", input: object, key: string | number];

/** The part as its schema has it. Its issues become those of the whole. */
function runPart(result: Result<unknown>, schema: v.GenericSchema, place: Place, config: Config): unknown {
  const [, input, key] = place;
  const part = schema["~run"]({ value: (input as Record<string | number, unknown>)[key] }, config);
  if (!part.typed) result.typed = false;
  for (const issue of part.issues ?? [])
    addIssue(result, { ...issue, path: [itemOf(place), ...(issue.path ?? [])] });
  return part.value;
}

function refuseField(result: Result<unknown>, input: object, key: string, message: string): void {
  result.typed = false;
  const issue = {
    kind: "schema",
    type: "strict_object",
    input: undefined,
    expected: null,
    received: "",
  } as const;
  addIssue(result, { ...issue, message, path: [itemOf(["object", input, key])] });
}

function addIssue(result: Result<unknown>, issue: v.BaseIssue<unknown>): void {
  result.issues ??= [];
  result.issues.push(issue);
}

const itemOf = ([type, input, key]: Place) =>
  ({ type, origin: "value", input, key, value: undefined }) as v.IssuePathItem;

const isObject = (input: unknown): input is object =>
  typeof input === "object" && input !== null && !Array.isArray(input);
