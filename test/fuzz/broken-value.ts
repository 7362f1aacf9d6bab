import type { JsonSchema } from "../../src/http/docs/openapi-document.ts";
import { fits } from "./conforms.ts";
import { type Described, isObject } from "./document.ts";
import { SECRET } from "./from-schema.ts";

/** One way in which a value can be broken. */
export interface Breakage {
  /** The field that is wrong, such as `tasks[3].delay`; empty for the value itself. */
  readonly field: string;
  /**
   * The outermost field that may be named instead: that of a union, if it is unknown which of its forms was
   * meant. Otherwise the same as `field`.
   */
  readonly within: string;
  /** A description for people. */
  readonly how: string;
  /** The broken value. */
  readonly value: unknown;
}

/** A value of every kind; those that a schema allows are left out. */
const wrongs: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -1,
  0.5,
  1e300,
  Infinity,
  -Infinity,
  "",
  `${SECRET} of the wrong kind`,
  "5 minutes",
  "-1s",
  ".a",
  "a".repeat(129),
  "<script>",
  "\u0000",
  "\ud800",
  [],
  [SECRET],
  [[]],
  {},
  { [SECRET]: 1 },
];

/**
 * Every way to break a value that fits the schema in one place.
 * @param union the field of a union around it, if it is unknown which form was meant
 */
export function breakagesOf(
  described: Described,
  schema: JsonSchema,
  value: unknown,
  field = "",
  union?: string,
): Breakage[] {
  const meant = described.schema(schema);
  const branches = meant.anyOf ?? meant.oneOf;
  // Objects and lists are broken in their fields and items, and not as a whole.
  const whole = [...wrongs, ...outOfBounds(meant, value)]
    .filter((wrong) => !fits(described, meant, wrong))
    .filter((wrong) => !isObject(wrong) || !allows(described, meant, "object"))
    .filter(
      (wrong) => !Array.isArray(wrong) || isMisnumbered(meant, wrong) || !allows(described, meant, "array"),
    )
    .map((wrong): Breakage => ({ field, within: union ?? field, how: `is ${shown(wrong)}`, value: wrong }));
  if (meant.type === undefined && !branches && !("const" in meant) && !meant.enum)
    return ofAnyValue(field, union);
  if (branches) return [...whole, ...ofUnion(described, meant, branches, value, field, union)];
  if (Array.isArray(value)) {
    const items = value.flatMap((item: unknown, i) =>
      breakagesOf(described, meant.items ?? {}, item, `${field}[${i}]`, union).map((inner) => ({
        ...inner,
        value: value.with(i, inner.value),
      })),
    );
    return [...whole, ...items];
  }
  if (meant.type === "object" && isObject(value))
    return [...whole, ...ofObject(described, meant, value, field, union)];
  return whole;
}

/**
 * A value that JSON does not have, for a field that takes any: it is sent as `1e400`. Bytes have a field of
 * their own.
 */
function ofAnyValue(field: string, within = field): Breakage[] {
  const one = (at: string, value: unknown): Breakage => ({
    field: field + at,
    within,
    how: "is 1e400",
    value,
  });
  return [one("", Infinity), one("[1].a", [null, { a: -Infinity }])];
}

/** The faults inside the form that the value has. */
function ofUnion(
  described: Described,
  meant: JsonSchema,
  branches: readonly JsonSchema[],
  value: unknown,
  field: string,
  union: string | undefined,
): Breakage[] {
  // The form is known if null is one form, if there is an outcome, or for a whole body.
  const ambiguous = field !== "" && meant.anyOf && !allows(described, meant, "null");
  return branches.flatMap((branch, i) => {
    if (!fits(described, branch, value)) return [];
    return breakagesOf(described, branch, value, field, union ?? (ambiguous ? field : undefined)).filter(
      (broken) =>
        broken.field !== field &&
        !fits(described, meant, broken.value) &&
        // Without the field that marks its form, the value has the first form.
        (field !== "" || i === 0 || broken.how !== MISSING),
    );
  });
}

const MISSING = "is missing";

function ofObject(
  described: Described,
  { properties = {}, required = [], additionalProperties }: JsonSchema,
  value: Readonly<Record<string, unknown>>,
  field: string,
  union: string | undefined,
): Breakage[] {
  const at = (name: string) => (field === "" ? name : `${field}.${name}`);
  const broken: Breakage[] = [];
  const add = (name: string, how: string, value: unknown) =>
    broken.push({ field: at(name), within: union ?? at(name), how, value });
  for (const name of required) {
    const { [name]: _, ...rest } = value;
    add(name, MISSING, rest);
  }
  if (additionalProperties === false) {
    for (const name of ["unknown", "constructor", "Payload"])
      add(name, "is unknown", { ...value, [name]: SECRET });
  }
  for (const [name, inner] of Object.entries(value)) {
    const schema = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
    if (typeof schema !== "object") continue;
    for (const one of breakagesOf(described, schema, inner, at(name), union))
      broken.push({ ...one, value: { ...value, [name]: one.value } });
  }
  return broken;
}

function outOfBounds(schema: JsonSchema, value: unknown): unknown[] {
  const { minimum, maximum, maxLength, minItems, maxItems } = schema;
  const wrong: unknown[] = [];
  if (minimum !== undefined) wrong.push(minimum - 1, minimum - 0.5);
  if (maximum !== undefined) wrong.push(maximum + 1_024, maximum + 0.5);
  if (maxLength !== undefined) wrong.push("x".repeat(maxLength + 1));
  if (Array.isArray(value)) {
    if (minItems !== undefined) wrong.push(value.slice(0, minItems - 1));
    if (maxItems !== undefined && value.length > 0)
      wrong.push(Array.from({ length: maxItems + 1 }, () => value[0] as unknown));
  }
  return wrong;
}

/** Lists with a wrong number of items. */
const isMisnumbered = ({ minItems = 0, maxItems = Infinity }: JsonSchema, { length }: readonly unknown[]) =>
  length < minItems || length > maxItems;

/** Whether a value of that type could be meant. */
function allows(described: Described, schema: JsonSchema, type: string): boolean {
  const meant = described.schema(schema);
  const branches = meant.anyOf ?? meant.oneOf;
  return branches?.some((branch) => allows(described, branch, type)) ?? meant.type === type;
}

const shown = (value: unknown) => {
  if (value === Infinity || value === -Infinity) return "beyond a double";
  if (Array.isArray(value) && value.length > 10) return `a list of ${value.length}`;
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};
