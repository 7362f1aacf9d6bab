import * as v from "valibot";
import { type FieldError, invalidFields } from "../problems/problem.ts";

/** The most errors that one response lists. */
export const maxErrors = 100;

/**
 * Returns the value as the schema parses it.
 * @throws {Problem} `invalid_request` with every error and its path
 */
export function validate<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
): v.InferOutput<Schema> {
  const parsed = v.safeParse(schema, value, { message: defaultMessage, abortPipeEarly: true });
  if (parsed.success) return parsed.output;
  throw invalidFields(fieldErrors(parsed.issues));
}

/** The errors of a failed parse, at most {@link maxErrors}. */
export function fieldErrors(issues: readonly v.BaseIssue<unknown>[]): FieldError[] {
  return issues
    .slice(0, maxErrors)
    .map((issue) => ({ path: pathOf(issue.path ?? []), message: issue.message }));
}

/** A path such as `tasks[3].headers.trace`. */
function pathOf(items: readonly { readonly key?: unknown }[]): string {
  return items.reduce((path, { key }) => {
    if (typeof key === "number") return `${path}[${key}]`;
    return path === "" ? String(key) : `${path}.${String(key)}`;
  }, "");
}

/** The message if a schema has none of its own. It never quotes the value, which may be a payload. */
export function defaultMessage(issue: v.BaseIssue<unknown>): string {
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

/** The same schema, but it refuses arrays. In valibot an array counts as an object. */
export function noArray<Schema extends v.GenericSchema>(schema: Schema): Schema {
  return {
    ...schema,
    "~run": (dataset: v.UnknownDataset, config: Config) =>
      schema["~run"](Array.isArray(dataset.value) ? { value: null } : dataset, config),
  };
}

/**
 * An object with these fields and no others. Unlike valibot's strict object, it refuses arrays and reports
 * every unknown field, not only the first. It is also several times as fast: V8 optimizes valibot's loop over
 * the fields of nested objects again and again, without effect.
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
    // It reports that an object is expected.
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
    for (const key of unknown.slice(0, maxErrors)) {
      refuseField(result, input, key, "is not a known field");
    }
    return result;
  };
  return { ...strict, "~run": run as unknown as (typeof strict)["~run"] };
}

/**
 * A list of at most `most` items. A longer list is refused before any item is checked. Errors of items are
 * collected up to {@link maxErrors}, because those of millions of invalid items would take gigabytes.
 */
export function list<Item extends v.GenericSchema>(item: Item, most: number, message: string) {
  const all = v.array(item);
  const run = (dataset: v.UnknownDataset, config: Config) => {
    const { value: input } = dataset;
    if (!Array.isArray(input)) return all["~run"](dataset, config);
    // The check of the length, which follows, refuses it.
    if (input.length > most) return { typed: true, value: input };
    const result: Result<unknown[]> = { typed: true, value: [], issues: undefined };
    for (let at = 0; at < input.length && (result.issues?.length ?? 0) < maxErrors; at++) {
      result.value.push(runPart(result, item, ["array", input, at], config));
    }
    return result;
  };
  const bounded: typeof all = { ...all, "~run": run as unknown as (typeof all)["~run"] };
  return v.pipe(bounded, v.maxLength(most, message));
}

type Config = v.Config<v.BaseIssue<unknown>>;

/** The result of a schema of an object or a list. */
interface Result<Value> {
  typed: boolean;
  readonly value: Value;
  issues: v.BaseIssue<unknown>[] | undefined;
}

/** Where a part is: the kind of its parent, the parent, and the key in it. */
type Location = readonly ["object" | "array", input: object, key: string | number];

/** Parses a part with its schema, and adds its issues to the result of the whole. */
function runPart(
  result: Result<unknown>,
  schema: v.GenericSchema,
  location: Location,
  config: Config,
): unknown {
  const [, input, key] = location;
  const part = schema["~run"]({ value: (input as Record<string | number, unknown>)[key] }, config);
  if (!part.typed) result.typed = false;
  for (const issue of part.issues ?? [])
    addIssue(result, { ...issue, path: [itemOf(location), ...(issue.path ?? [])] });
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

const itemOf = ([type, input, key]: Location) =>
  ({ type, origin: "value", input, key, value: undefined }) as v.IssuePathItem;

const isObject = (input: unknown): input is object =>
  typeof input === "object" && input !== null && !Array.isArray(input);
