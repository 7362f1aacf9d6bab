import type { JsonSchema } from "../../../src/http/docs/openapi-document.ts";
import { fits } from "./conforms.ts";
import { type Described, isObject } from "./document.ts";
import { SECRET } from "./from-schema.ts";
import { allows, at, type PlaceIn, placesIn } from "./places-in.ts";

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

/** Every way to break a value that fits the schema in one place. */
export function breakagesOf(described: Described, schema: JsonSchema, value: unknown): Breakage[] {
  const broken = Array.from(placesIn(described, schema, value), (place) => [
    ...(place.form === undefined ? ofPlace(described, place) : []),
    ...ofFields(place),
  ]);
  return broken.flat().filter((one) => !fits(described, schema, one.value));
}

/** Other values in that place. */
function ofPlace(described: Described, { field, union = field, schema, value, put }: PlaceIn): Breakage[] {
  const isAny = !schema.type && !schema.anyOf && !schema.oneOf && !("const" in schema) && !schema.enum;
  if (isAny) {
    // A value that JSON does not have is sent as `1e400`. Bytes have a field of their own.
    const within = { within: union, how: "is 1e400" };
    return [
      { field, ...within, value: put(Infinity) },
      { field: `${field}[1].a`, ...within, value: put([null, { a: -Infinity }]) },
    ];
  }
  // Objects and lists are broken in their fields and items, and not as a whole.
  return [...wrongs, ...outOfBounds(schema, value)]
    .filter((wrong) => !isObject(wrong) || !allows(described, schema, "object"))
    .filter(
      (wrong) => !Array.isArray(wrong) || isMisnumbered(schema, wrong) || !allows(described, schema, "array"),
    )
    .map((wrong) => ({ field, within: union, how: `is ${shown(wrong)}`, value: put(wrong) }));
}

/** Missing and unknown fields of an object. */
function ofFields({ field, union, schema, first, value, put }: PlaceIn): Breakage[] {
  if (schema.type !== "object" || !isObject(value)) return [];
  const broken = (name: string, how: string, fields: object): Breakage => {
    return { field: at(field, name), within: union ?? at(field, name), how, value: put(fields) };
  };
  // Without a field that only this form has, the value has the first form.
  const marks = (name: string) => first?.properties !== undefined && !Object.hasOwn(first.properties, name);
  const required = (schema.required ?? []).filter((name) => !marks(name));
  const unknown = schema.additionalProperties === false ? ["unknown", "constructor", "Payload"] : [];
  return [
    ...required.map((name) => {
      const { [name]: _, ...rest } = value;
      return broken(name, "is missing", rest);
    }),
    ...unknown.map((name) => broken(name, "is unknown", { ...value, [name]: SECRET })),
  ];
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

const shown = (value: unknown) => {
  if (value === Infinity || value === -Infinity) return "beyond a double";
  if (Array.isArray(value) && value.length > 10) return `a list of ${value.length}`;
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
};
