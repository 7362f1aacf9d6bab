import type { JsonSchema } from "../../../src/http/docs/openapi-document.ts";
import { fits } from "./conforms.ts";
import { type Described, isObject } from "./document.ts";

/** A place in a value, with what the document says of it. */
export interface PlaceIn {
  /** Such as `tasks[3].delay`; empty for the value itself. */
  readonly field: string;
  /** The field of the outermost union around it, if it is unknown which of its forms was meant. */
  readonly union: string | undefined;
  readonly schema: JsonSchema;
  /** The schema as the document has it in this place alone, perhaps a reference. */
  readonly given: JsonSchema;
  /** Which form the schema is, if it is one of a union, whose place is the same. */
  readonly form: number | undefined;
  /** The first form of that union. A value without the fields that mark another form is read as this one. */
  readonly first: JsonSchema | undefined;
  readonly value: unknown;
  /** The whole value with another one in that place. */
  readonly put: (value: unknown) => unknown;
}

/** Each place in a value that fits a schema. */
export function* placesIn(
  described: Described,
  given: JsonSchema,
  value: unknown,
  around: Partial<PlaceIn> = {},
): Generator<PlaceIn> {
  const { field = "", union, form, first, put = (whole) => whole } = around;
  const schema = described.schema(given);
  yield { field, union, schema, given, form, first, value, put };

  const forms = schema.anyOf ?? schema.oneOf ?? [];
  // The form is known if null is one form, if there is an outcome, or for a whole body.
  const isAmbiguous = field !== "" && schema.anyOf !== undefined && !allows(described, schema, "null");
  const firstForm = forms[0] && described.schema(forms[0]);
  for (const [i, one] of forms.entries()) {
    if (!fits(described, one, value)) continue;
    const outermost = union ?? (isAmbiguous ? field : undefined);
    yield* placesIn(described, one, value, { field, union: outermost, form: i, first: firstForm, put });
  }
  if (Array.isArray(value) && schema.items) {
    for (const [i, item] of value.entries()) {
      const inItem = { field: `${field}[${i}]`, union, put: (one: unknown) => put(value.with(i, one)) };
      yield* placesIn(described, schema.items, item, inItem);
    }
  } else if (isObject(value) && schema.type === "object") {
    for (const [name, inner] of Object.entries(value)) {
      const { properties = {}, additionalProperties } = schema;
      const ofField = Object.hasOwn(properties, name) ? properties[name] : additionalProperties;
      if (typeof ofField !== "object") continue;
      const inField = {
        field: at(field, name),
        union,
        put: (one: unknown) => put({ ...value, [name]: one }),
      };
      yield* placesIn(described, ofField, inner, inField);
    }
  }
}

/** The name of a field of an object, which is itself a field, or the whole if its own is empty. */
export const at = (field: string, name: string) => (field === "" ? name : `${field}.${name}`);

/** Whether a value of that type could be meant. */
export function allows(described: Described, schema: JsonSchema, type: string): boolean {
  const meant = described.schema(schema);
  const forms = meant.anyOf ?? meant.oneOf;
  return forms?.some((form) => allows(described, form, type)) ?? meant.type === type;
}
