import * as v from "valibot";
import { invalidFields, type FieldFault } from "./problem.ts";

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
  if (issue.expected === "never") return "is not a known field";
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

/** Whether it is about a field of the object itself, not of one inside it. */
const isUnknownField = (issue: v.BaseIssue<unknown>) =>
  issue.expected === "never" && issue.path?.length === 1;

/** The same schema, but no array counts as an object, as it does for valibot. */
export function noArray<Schema extends v.GenericSchema>(schema: Schema): Schema {
  return {
    ...schema,
    "~run": (dataset: v.UnknownDataset, config: v.Config<v.BaseIssue<unknown>>) =>
      schema["~run"](Array.isArray(dataset.value) ? { value: null } : dataset, config),
  };
}

/**
 * An object with these fields and no others. Stricter than valibot's own strict object, which takes
 * an array for an object and tells of the first unknown field only.
 */
export function fields<const Entries extends v.ObjectEntries>(
  entries: Entries,
): v.StrictObjectSchema<Entries, undefined> {
  const strict = noArray(v.strictObject(entries));
  return {
    ...strict,
    "~run"(dataset, config) {
      const input = dataset.value;
      const result = strict["~run"](dataset, config);
      const unknown = result.issues?.find(isUnknownField);
      if (unknown?.path && typeof input === "object" && input !== null) {
        const [item] = unknown.path;
        const others = Object.keys(input).filter((key) => !Object.hasOwn(entries, key) && key !== item.key);
        for (const key of others.slice(0, maxFaults)) {
          result.issues?.push({ ...unknown, path: [{ ...item, key }] } as typeof unknown);
        }
      }
      return result;
    },
  };
}

/**
 * A list of at most so many items. A longer one is refused before any item is looked at, and no more faults of items are kept
 * than are told: those of millions of wrong items would take gigabytes.
 */
export function list<Item extends v.GenericSchema>(item: Item, most: number, message: string) {
  const all = v.array(item);
  const bounded: typeof all = {
    ...all,
    "~run"(dataset, config) {
      const input = dataset.value;
      // The bound behind it says so.
      if (Array.isArray(input) && input.length > most) return { typed: true, value: input };
      let faults = 0;
      const counted: Item = {
        ...item,
        "~run"(one: v.UnknownDataset, itsConfig: v.Config<v.BaseIssue<unknown>>) {
          if (faults >= maxFaults) return { typed: true, value: one.value };
          const result = item["~run"](one, itsConfig);
          faults += result.issues?.length ?? 0;
          return result;
        },
      };
      return v.array(counted)["~run"](dataset, config);
    },
  };
  return v.pipe(bounded, v.maxLength(most, message));
}
