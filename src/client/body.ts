import { delayAfter } from "../queue/core/backoff.ts";
import { decodeValue, encodeError, encodeValue, toJson } from "../queue/core/codec.ts";
import { onlyOptions } from "../queue/core/validation.ts";
import { readReceipt } from "../queue/core/receipt.ts";
import { encodeProgress } from "../queue/core/record.ts";
import { encryptSettlementValue, type ValuesQueue } from "../queue/values/encryption.ts";
import type { RequestOptions, Settlement } from "../queue/core/types.ts";

/**
 * Splits options into those of the request and the fields of its body.
 * @throws {SluiceError} `invalid_argument` if they are not an object
 */
export function splitOptions<Options extends RequestOptions>(options: Options) {
  onlyOptions(options, Object.keys(options ?? {}));
  const { signal, idempotencyKey, ...fields } = options;
  return { request: { signal, idempotencyKey }, fields };
}

/**
 * The JSON of an object. The server checks its fields.
 * @throws {SluiceError} `invalid_argument` if it is not an object, or JSON cannot express it
 */
export function jsonOf(fields: object, path: string): string {
  onlyOptions(fields, Object.keys(fields ?? {}), path);
  return toJson(fields, path);
}

/**
 * The JSON of an object with a value that the codec wrote. Bytes are in base64, with `encoding` beside them.
 * @param name the field of the value
 * @param encoded empty if there is no value
 */
export function jsonWith(fields: object, path: string, name: string, encoded: string): string {
  const json = jsonOf(fields, path);
  if (encoded === "") return json;
  const text = encoded.slice(1);
  const value = encoded[0] === "b" ? `"${text}","encoding":"base64"` : text;
  return `{"${name}":${value}${json === "{}" ? "" : ","}${json.slice(1)}`;
}

/** Decodes a value that {@link jsonWith} or the server wrote. */
export function valueOf(value: unknown, encoding: string | undefined): unknown {
  return encoding === undefined ? value : decodeValue(`b${String(value)}`);
}

/**
 * The JSON of a settlement.
 * @throws {SluiceError} `invalid_argument` or `too_large` for a result, an error or progress
 */
export async function settlementJson(
  queue: ValuesQueue,
  settlement: Settlement,
  at: string,
): Promise<string> {
  const withValue = async (fields: object, name: string, encoded: string) =>
    jsonWith(fields, at, name, await encryptSettlementValue(queue, settlement, encoded, at));
  switch (settlement?.outcome) {
    case "complete": {
      const { result, ...fields } = settlement;
      return withValue(fields, "result", result === undefined ? "" : encodeValue(result, `${at}.result`));
    }
    case "reject": {
      const { error, ...fields } = settlement;
      return withValue(fields, "error", encodeError(error, `${at}.error`));
    }
    case "requeue": {
      const { error, backoff, ...fields } = settlement;
      const encoded = encodeError(error, `${at}.error`);
      if (typeof backoff !== "function") return withValue({ ...fields, backoff }, "error", encoded);
      const { charged } = readReceipt(settlement.receipt, `${at}.receipt`);
      // The server cannot call the function. A list of one delay sets exactly the delay that it returned.
      const delays = [delayAfter(charged, backoff, Math.random, `${at}.backoff`)];
      return withValue({ ...fields, backoff: delays }, "error", encoded);
    }
    case "extend": {
      const { progress, ...fields } = settlement;
      const encoded = progress === undefined ? "" : encodeProgress(progress, `${at}.progress`);
      return withValue(fields, "progress", encoded);
    }
    default:
      return jsonOf(settlement, at);
  }
}
