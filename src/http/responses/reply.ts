import type * as v from "valibot";
import { json } from "../../respond.ts";
import type { ReplyOf } from "../response-schemas/values.ts";

/** The response with a reply as its schema describes it: `reply<typeof replies.queue>(…)`. */
export function reply<Schema extends v.GenericSchema>(
  value: ReplyOf<Schema>,
  ...more: [status?: number, headers?: Readonly<Record<string, string>>]
): Response {
  return json(value, ...more);
}
