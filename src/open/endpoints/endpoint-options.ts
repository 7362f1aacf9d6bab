/** What callers give of an endpoint: checks it. */
import { invalidArgument } from "../../errors.ts";
import { checkedTarget, isOfConnection, type UrlPolicy } from "../../features/push/index.ts";
import type { EndpointRecord } from "../../features/endpoints/index.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import { headerTexts } from "../../kernel/record/headers.ts";
import { listOf, onlyOptions } from "../../kernel/options/validation.ts";
import { WORD_PATTERN, wordPatternForm } from "../../kernel/names/word-pattern.ts";
import { groupChanges, type Rate } from "../../operate/settings.ts";
import { isSigningSecret, SECRET_FORM } from "../../signature.ts";

/** What an endpoint is. */
export interface EndpointOptions {
  /** Where events are delivered, by POST. */
  readonly url: string;
  /**
   * The types of the events that it gets: names, or patterns in which `*` is one word and `#` any number of words.
   * @default all
   * @example ["orders.*", "invoices.#"]
   */
  readonly types?: readonly string[] | undefined;
  /** Headers of each delivery. They are not shown again. @default none */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Most deliveries in a period. @default no limit */
  readonly rate?: Rate | null | undefined;
  /** Most deliveries at once. @default no limit */
  readonly maxWorking?: number | null | undefined;
  /** `"strict"`: one delivery at a time, in the order of the events. @default in no order */
  readonly order?: "strict" | null | undefined;
  /** A text for people, of at most 500 characters. @default none */
  readonly description?: string | null | undefined;
}

/** A new endpoint. */
export interface NewEndpoint extends EndpointOptions {
  /** Its id: letters, digits, `_` and `-`, at most 40. @default a generated one */
  readonly id?: string | undefined;
  /** What signs deliveries: `whsec_` and 24 to 64 bytes in base64. @default a generated one */
  readonly secret?: string | undefined;
}

const OPTIONS = ["url", "types", "headers", "rate", "maxWorking", "order", "description"] as const;

export const NEW_OPTIONS = ["id", "secret", ...OPTIONS] as const;

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;

const HEADER = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;

/** Headers of the signature, which the delivery itself sets. */
const OF_SIGNATURE = /^webhook-/i;

const MOST_TYPES = 100;
const MOST_HEADERS = 20;

/** @throws {SluiceError} `invalid_argument` */
export function endpointId(value: unknown, path = "id"): string {
  if (typeof value === "string" && ID.test(value)) return value;
  throw invalidArgument(path, "must be 1 to 40 of A-Z a-z 0-9 _ -, beginning with a letter or a digit");
}

/** @throws {SluiceError} `invalid_argument` */
export function checkedSecret(value: unknown): string {
  if (typeof value === "string" && isSigningSecret(value)) return value;
  throw invalidArgument("secret", SECRET_FORM);
}

/** What of a record options set, beside its headers and secrets. */
type OfOptions = Pick<EndpointRecord, "url" | "types" | "rate" | "maxWorking" | "order" | "description">;

/**
 * The record of an endpoint with changes.
 * @param known the endpoint before; undefined for a new one
 * @throws {SluiceError} `invalid_argument`
 */
export function changedRecord(
  changes: Partial<EndpointOptions>,
  known: OfOptions | undefined,
  policy: UrlPolicy | undefined,
): OfOptions {
  onlyOptions(changes, OPTIONS);
  const { url = known?.url, types = known?.types ?? ["#"] } = changes;
  const rate = changes.rate === undefined ? known?.rate : checkedRate(changes.rate);
  const { maxWorking = known?.maxWorking, order = known?.order, description = known?.description } = changes;
  // Checks them as the group takes them.
  groupChanges({ maxWorking, order });
  return {
    url: changes.url === undefined && known ? known.url : checkedTarget(url as string, policy).href,
    types: checkedTypes(types),
    rate: rate ?? undefined,
    maxWorking: maxWorking ?? undefined,
    order: order ?? undefined,
    description: checkedDescription(description) ?? undefined,
  };
}

function checkedRate(rate: Rate | null): EndpointRecord["rate"] | null {
  groupChanges({ rate });
  return rate && { most: rate.most, per: milliseconds(rate.per, "rate.per", { min: 1 }) };
}

function checkedTypes(types: unknown): readonly string[] {
  listOf(types, "types", MOST_TYPES);
  const list = types as readonly unknown[];
  if (list.length === 0) throw invalidArgument("types", 'must have at least one type; "#" is all');
  for (const [i, type] of list.entries()) checkedPattern(type, `types[${i}]`);
  return list as readonly string[];
}

function checkedPattern(type: unknown, path: string): void {
  if (typeof type !== "string" || !WORD_PATTERN.test(type)) throw invalidArgument(path, wordPatternForm);
}

function checkedDescription(text: unknown): string | null | undefined {
  if (text === undefined || text === null) return text;
  if (typeof text === "string" && text.length <= 500) return text;
  throw invalidArgument("description", "must be a text of at most 500 characters");
}

/** @throws {SluiceError} `invalid_argument` */
export function checkedHeaders(value: unknown): Readonly<Record<string, string>> {
  const headers = headerTexts(value, "headers");
  const names = Object.keys(headers);
  if (names.length > MOST_HEADERS) throw invalidArgument("headers", `must be at most ${MOST_HEADERS}`);
  for (const name of names) {
    if (!HEADER.test(name) || OF_SIGNATURE.test(name) || isOfConnection(name))
      throw invalidArgument(
        `headers.${name.slice(0, 100)}`,
        "must be a header that a delivery does not set itself",
      );
    if (!/^[\t\x20-\x7e]{0,2000}$/.test(headers[name] ?? ""))
      throw invalidArgument(`headers.${name}`, "must be a text of ASCII characters, of at most 2,000");
  }
  return headers;
}
