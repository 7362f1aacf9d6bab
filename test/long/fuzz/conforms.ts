import { z } from "zod";
import type { JsonSchema } from "../../../src/http/docs/openapi-document.ts";
import type { Described } from "./document.ts";

/** Whether a value fits a schema of the document. */
export const fits = (described: Described, schema: JsonSchema, value: unknown): boolean =>
  !hasInfinite(value) && validator(described, schema, false).safeParse(value).success;

/**
 * The differences between an answer and a schema of the document; empty if it fits. The document lets answers have
 * further fields, for later releases. Here they are differences: those of this release are all in it.
 */
export function misfits(described: Described, schema: JsonSchema, value: unknown): string[] {
  const { error } = validator(described, schema, true).safeParse(value);
  const infinite = hasInfinite(value) ? ["it has a number beyond a double"] : [];
  return [...infinite, ...(error ? [z.prettifyError(error)] : [])];
}

/** Whether a value has an infinite number, which is sent as `1e400`. */
const hasInfinite = (value: unknown): boolean =>
  typeof value === "object" && value !== null
    ? Object.values(value).some(hasInfinite)
    : typeof value === "number" && !Number.isFinite(value);

const validators = {
  strict: new WeakMap<JsonSchema, z.ZodType>(),
  open: new WeakMap<JsonSchema, z.ZodType>(),
};

function validator({ schemas }: Described, schema: JsonSchema, isStrict: boolean): z.ZodType {
  const known = isStrict ? validators.strict : validators.open;
  const found = known.get(schema);
  if (found) return found;
  // A schema of its own has the named ones within it.
  const text = JSON.stringify({ ...schema, $defs: schemas }).replaceAll("#/components/schemas/", "#/$defs/");
  const alone = JSON.parse(text, (_, node: JsonSchema) =>
    isStrict && node?.type === "object" && node.properties && node.additionalProperties === undefined
      ? { ...node, additionalProperties: false }
      : node,
  ) as z.core.JSONSchema.JSONSchema;
  const made = z.fromJSONSchema(alone);
  known.set(schema, made);
  return made;
}
