import type { Arbitrary } from "fast-check";
import * as fc from "fast-check";
import type { JsonSchema } from "../../../src/http/docs/openapi-document.ts";
import type { Described } from "./document.ts";

/** Chooses what a field is drawn from, instead of its schema; undefined for the schema. */
export type Choice = (name: string, schema: JsonSchema) => Arbitrary<unknown> | undefined;

/**
 * Values that fit a schema of the document. `name` is the field's name, for `choice`.
 * @param around the references that lead to the schema. What may hold itself, as a flow may, does so once
 */
export function valueOf(
  described: Described,
  schema: JsonSchema,
  choice: Choice,
  name = "",
  around: readonly (string | undefined)[] = [],
): Arbitrary<unknown> {
  const chosen = choice(name, schema);
  if (chosen) return chosen;
  const meant = described.schema(schema);
  const inner = (within: JsonSchema, its: string) =>
    valueOf(described, within, choice, its, [...around, schema.$ref]);

  const isAround = ({ $ref }: JsonSchema) => $ref !== undefined && around.includes($ref);
  const branches = (meant.anyOf ?? meant.oneOf)?.filter((branch) => !isAround(branch));
  if (branches) return fc.oneof(...branches.map((branch) => inner(branch, name)));
  if ("const" in meant) return fc.constant(meant.const);
  if (meant.enum) return fc.constantFrom(...meant.enum);
  switch (meant.type) {
    case "object":
      return objectOf(meant, inner);
    case "array":
      return fc.array(inner(meant.items ?? {}, name), {
        minLength: meant.minItems ?? 0,
        maxLength: Math.min(meant.maxItems ?? 4, 4),
      });
    case "integer":
      return integers(meant);
    case "number":
      return fc.double({ min: meant.minimum ?? -1e9, max: meant.maximum ?? 1e9, noNaN: true });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    case "string":
      return strings(meant);
    case undefined:
      return anyValue;
    default:
      throw new Error(`the document has the type ${String(meant.type)}, which this generator does not know`);
  }
}

/** Part of every payload. No error may show it. */
export const SECRET = "s3cret";

/** As `unit: "binary"`, which makes a table of all characters first. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10_ff_ff })
  .filter((point) => point < 0xd8_00 || point > 0xdf_ff)
  .map((point) => String.fromCodePoint(point));

const anyValue = fc.oneof(
  fc.constantFrom<unknown>(0, "", null, [], {}, false, "42", "null", SECRET, { [SECRET]: [SECRET] }),
  fc.string({ unit: anyCharacter, maxLength: 8 }),
  fc.jsonValue({ maxDepth: 2 }),
);

function objectOf(
  { properties = {}, required = [], additionalProperties, propertyNames }: JsonSchema,
  inner: (schema: JsonSchema, name: string) => Arbitrary<unknown>,
): Arbitrary<unknown> {
  if (typeof additionalProperties === "object") {
    const names = fc.string({ unit: "grapheme", minLength: propertyNames?.minLength ?? 0, maxLength: 6 });
    return fc.dictionary(names, inner(additionalProperties, ""), { maxKeys: 3, noNullPrototype: true });
  }
  // Made once: making it for each choice of fields would take most of the time.
  const fields = Object.entries(properties).map(([name, schema]) => [name, inner(schema, name)] as const);
  const must = fields.filter(([name]) => required.includes(name));
  const may = fields.filter(([name]) => !required.includes(name));
  // Few of many fields at once: with half of them each time, most would contradict each other.
  const chosen = fc.subarray(may, { maxLength: Math.min(may.length, 4) });
  return chosen.chain((some) => fc.record(Object.fromEntries([...must, ...some]), { noNullPrototype: true }));
}

function integers({ minimum: min = 0, maximum: max = Number.MAX_SAFE_INTEGER }: JsonSchema) {
  const whole = fc.integer({ min, max });
  return fc.oneof(
    { weight: 3, arbitrary: fc.integer({ min, max: Math.min(max, min + 20) }) },
    { weight: 1, arbitrary: fc.constantFrom(min, max) },
    { weight: 1, arbitrary: whole },
  );
}

function strings({ pattern, minLength = 0, maxLength = 20 }: JsonSchema): Arbitrary<string> {
  if (pattern !== undefined) return matching(pattern);
  return fc.string({ unit: "grapheme", minLength, maxLength: Math.min(maxLength, minLength + 20) });
}

const byPattern = new Map<string, Arbitrary<string>>();

/** Texts that match a pattern; cached, because patterns are slow to parse. */
function matching(pattern: string): Arbitrary<string> {
  const known = byPattern.get(pattern) ?? fc.stringMatching(new RegExp(pattern, "u"), { maxLength: 130 });
  byPattern.set(pattern, known);
  return known;
}
