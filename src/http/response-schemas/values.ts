import * as v from "valibot";
import { reasonTexts } from "../../kernel/errors/reason-text.ts";
import { rejectReasons, taskStates } from "../../kernel/options/types.ts";
import { name } from "../request-schemas/values.ts";

export const described = <Schema extends v.GenericSchema>(schema: Schema, meaning: string) =>
  v.pipe(schema, v.description(meaning));

/**
 * Schemas of the responses. The app uses only their types. The OpenAPI document is built from the schemas.
 * Responses may gain fields, so these objects are not strict.
 */

/** The type of a reply that a handler returns. Optional fields may be present and undefined. */
export type ReplyOf<Schema extends v.GenericSchema> = Loose<v.InferOutput<Schema>>;

type Loose<Value> = Value extends readonly (infer Item)[]
  ? readonly Loose<Item>[]
  : Value extends object
    ? {
        readonly [Key in keyof Value]: object extends Pick<Value, Key>
          ? Loose<Value[Key]> | undefined
          : Loose<Value[Key]>;
      }
    : Value;

export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const instant = (meaning: string) => described(count, `${meaning}, epoch ms.`);
export const nextCursor = described(
  v.nullable(v.string()),
  "The start of the next page; null on the last page.",
);
export const base64 = (of: string) => described(v.literal("base64"), `The ${of} is bytes, in base64.`);
export const payloadsHidden = (hidden: string) =>
  v.exactOptional(described(v.literal(true), `The token hides payloads: ${hidden} are left out.`));
export const state = v.picklist(taskStates);
export const reason = described(
  v.picklist(rejectReasons),
  `Why it was rejected: ${rejectReasons.map((each) => `\`${each}\`: ${reasonTexts[each]}`).join("; ")}.`,
);
export const worker = v.object({ name, incarnation: v.exactOptional(name) });
export const headers = v.record(v.string(), v.string());
