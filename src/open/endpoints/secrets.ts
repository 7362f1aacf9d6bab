/** What of an endpoint only its deliveries read: secrets and headers. */
import { toBase64 } from "../../base64.ts";
import type { EndpointRecord, EndOfSecret, Sealed } from "../../features/endpoints/index.ts";
import { decodeValue, encodeValue } from "../../kernel/record/codec.ts";
import { derivedName } from "../../kernel/names/derived-ids.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { requestKey } from "../../kernel/options/validation.ts";
import type { Values } from "../../kernel/values/values.ts";

/** No schedule has such a name. */
const contextOf = (id: string) => ({ kind: "schedule", id: `~${id}` }) as const;

/** How many characters of a secret are shown. */
const SHOWN = 4;

export function newSecret(): string {
  return `whsec_${toBase64(crypto.getRandomValues(new Uint8Array(32)))}`;
}

/** A secret, and until when it signs; undefined for the current one. */
export interface ValidSecret {
  readonly secret: string;
  readonly until?: number | undefined;
  /** See {@link EndOfSecret}. */
  readonly by?: string | undefined;
}

/** A name for a call with an idempotency key; undefined for one without. */
export async function callOf(
  name: "add" | "rotate",
  id: string | undefined,
  options: RequestOptions,
): Promise<string | undefined> {
  const key = requestKey(options);
  return key === undefined ? undefined : derivedName("endpoint", name, id ?? "", key);
}

/** The current secret, if an earlier copy of the call has made it. */
export const madeBy = ([current]: readonly ValidSecret[], by: string | undefined): string | undefined =>
  by !== undefined && current?.by === by ? current.secret : undefined;

/** What the record of an endpoint has of its secrets and headers. */
export async function sealed(
  values: Values,
  id: string,
  secrets: readonly ValidSecret[],
  headers: Sealed["headers"],
): Promise<Pick<EndpointRecord, "secrets" | "headers" | "sealed">> {
  const value: Sealed = { secrets: secrets.map(({ secret }) => secret), headers };
  return {
    secrets: secrets.map(({ secret, ...others }): EndOfSecret => ({ end: secret.slice(-SHOWN), ...others })),
    headers: Object.keys(headers),
    sealed: await values.seal(contextOf(id), encodeValue(value, "secret"), "secret"),
  };
}

/**
 * Reads the secrets that sign at an instant, and the headers.
 * @throws {SluiceError} `undecryptable`
 */
export async function unsealed(
  values: Values,
  id: string,
  record: EndpointRecord,
  now: number,
): Promise<{ readonly secrets: readonly ValidSecret[]; readonly headers: Sealed["headers"] }> {
  const { secrets, headers } = (await values.open(contextOf(id), decodeValue(record.sealed))) as Sealed;
  return {
    secrets: secrets
      .map((secret, i) => ({ secret, until: record.secrets[i]?.until, by: record.secrets[i]?.by }))
      .filter(({ until = now + 1 }) => until > now),
    headers,
  };
}
