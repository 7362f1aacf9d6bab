import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { type Described, isObject } from "./document.ts";

/** One difference between a value and a schema. */
export interface Misfit {
  /** Such as `tasks[3].state`; empty for the value itself. */
  readonly path: string;
  readonly what: string;
}

export interface ConformOptions {
  /**
   * True if fields that the schema does not name are misfits. The document lets answers have further fields,
   * for later releases; those of this release are all in it.
   */
  readonly strict?: boolean;
}

/** The differences between a value and a schema of the document; empty if it fits. */
export function misfits(
  described: Described,
  schema: JsonSchema,
  value: unknown,
  options: ConformOptions = {},
  path = "",
): Misfit[] {
  const meant = described.schema(schema);
  const inner = (schema: JsonSchema, value: unknown, at: string) =>
    misfits(described, schema, value, options, at);

  // JSON can express it, but it cannot be stored.
  if (value === Infinity || value === -Infinity) return [{ path, what: "is beyond a double" }];

  const branches = meant.anyOf ?? meant.oneOf;
  if (branches) {
    const found = branches.map((branch) => inner(branch, value, path));
    const fitting = found.filter((each) => each.length === 0).length;
    if (fitting === 1 || (fitting > 1 && meant.anyOf)) return [];
    return fitting > 1 ? [{ path, what: "fits more than one form" }] : closest(found);
  }
  if ("const" in meant && value !== meant.const)
    return [{ path, what: `is not ${JSON.stringify(meant.const)}` }];
  if (meant.enum && !meant.enum.includes(value))
    return [{ path, what: `is none of ${meant.enum.join(", ")}` }];
  if (meant.type !== undefined && !isOfType(value, meant.type))
    return [{ path, what: `is no ${String(meant.type)}` }];

  if (meant.type === undefined && hasInfinite(value)) return [{ path, what: "has a number beyond JSON's" }];
  const wrong = boundOf(meant, value);
  if (wrong !== undefined) return [{ path, what: wrong }];
  const { items } = meant;
  if (Array.isArray(value) && items) return value.flatMap((item, i) => inner(items, item, `${path}[${i}]`));
  if (isObject(value) && meant.type === "object") return misfitsOfObject(meant, value, options, path, inner);
  return [];
}

/** Whether a value fits. */
export const fits = (described: Described, schema: JsonSchema, value: unknown): boolean =>
  misfits(described, schema, value).length === 0;

function misfitsOfObject(
  { properties = {}, required = [], additionalProperties = true, propertyNames = {} }: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  { strict = false }: ConformOptions,
  path: string,
  inner: (schema: JsonSchema, value: unknown, at: string) => Misfit[],
): Misfit[] {
  const at = (name: string) => (path === "" ? name : `${path}.${name}`);
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...missing.map((name) => ({ path: at(name), what: "is missing" })),
    ...Object.keys(value).flatMap((name) => inner(propertyNames, name, path)),
    ...Object.entries(value).flatMap(([name, field]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema) return inner(schema, field, at(name));
      if (typeof additionalProperties === "object") return inner(additionalProperties, field, at(name));
      const closed = !additionalProperties || (strict && Object.keys(properties).length > 0);
      return closed ? [{ path: at(name), what: "is not in the document" }] : [];
    }),
  ];
}

/** Whether a value has an infinite number, which is sent as `1e400`. */
const hasInfinite = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).some(hasInfinite)
    : typeof value === "number" && !Number.isFinite(value);

/** The faults of the form of a union that fits best. */
function closest(found: readonly Misfit[][]): Misfit[] {
  return found.reduce((best, next) => (next.length < best.length ? next : best));
}

function isOfType(value: unknown, types: string | readonly string[]): boolean {
  return [types].flat().some((type) => {
    switch (type) {
      case "object":
        return isObject(value);
      case "array":
        return Array.isArray(value);
      case "integer":
        return Number.isInteger(value);
      case "null":
        return value === null;
      case "string":
      case "number":
      case "boolean":
        return typeof value === type;
      default:
        throw new Error(`the document has the type ${type}, which this check does not know`);
    }
  });
}

function boundOf(schema: JsonSchema, value: unknown): string | undefined {
  if (typeof value === "number") {
    if (value < (schema.minimum ?? value)) return `is less than ${schema.minimum}`;
    if (value > (schema.maximum ?? value)) return `is more than ${schema.maximum}`;
  } else if (typeof value === "string") {
    if (value.length < (schema.minLength ?? 0)) return `is shorter than ${schema.minLength}`;
    if (value.length > (schema.maxLength ?? value.length)) return `is longer than ${schema.maxLength}`;
    if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value))
      return `does not match ${schema.pattern}`;
  } else if (Array.isArray(value)) {
    if (value.length < (schema.minItems ?? 0)) return `has fewer items than ${schema.minItems}`;
    if (value.length > (schema.maxItems ?? value.length)) return `has more items than ${schema.maxItems}`;
  }
  return undefined;
}
