import { plainJson } from "../kernel/record/plain-json.ts";
import { optionsObject } from "../kernel/options/validation.ts";
import type { RequestOptions } from "../kernel/options/types.ts";
import { onDemand } from "./load.ts";

/**
 * Splits options into those of the request and the fields of its body.
 * @throws {SluiceError} `invalid_argument` if they are not an object
 */
export function splitOptions<Options extends RequestOptions>(options: Options) {
  optionsObject(options);
  const { signal, idempotencyKey, ...fields } = options;
  return { request: { signal, idempotencyKey }, fields };
}

/**
 * The JSON of a body, or of a part of it. The server checks its fields.
 * @param at path of the part, for errors
 * @throws {SluiceError} `invalid_argument` for a field that JSON cannot express or would change
 */
export async function fieldsJson(fields: object, at = ""): Promise<string> {
  return plainJson(fields) ?? (await onDemand()).losslessJson(fields, at, true);
}
