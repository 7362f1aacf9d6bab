import { builtinModule } from "../../environment.ts";
import { matches } from "../../kernel/names/queue-pattern.ts";
import { Problem } from "../problems/problem.ts";
import { checkCronSecrets, parseTokens, type Scope, type TokenEntry } from "./tokens.ts";

interface Entry {
  readonly digest: Uint8Array;
  readonly grant: Grant;
}

interface Grant {
  readonly scopes: readonly (Scope | "cron")[];
  readonly queues: string;
  readonly payloads?: "shown" | "hidden" | undefined;
}

/** What one entry of a token allows, as callers see it. */
export interface TokenGrant {
  readonly scopes: Scope[];
  readonly queues: string;
  readonly payloads?: "hidden";
}

/** What one caller may do. */
export class Grants {
  readonly list: readonly Grant[];

  constructor(list: readonly Grant[]) {
    this.list = list;
  }

  /** Whether the caller has the scope for at least one queue. */
  has(scope: Scope | "cron"): boolean {
    return this.list.some((grant) => includes(grant, scope));
  }

  /** Whether the caller has the scope for every queue. */
  allowsAll(scope: Scope | "cron"): boolean {
    return this.list.some((grant) => includes(grant, scope) && grant.queues === "*");
  }

  /** Whether the caller has the scope for this queue. */
  allows(scope: Scope | "cron", queue: string): boolean {
    return this.list.some((grant) => includes(grant, scope) && matches(grant.queues, queue));
  }

  /** What the caller's token allows. A cron secret is none. */
  ofToken(): TokenGrant[] {
    return this.list.flatMap(({ scopes, queues, payloads }) => {
      const own = scopes.filter((scope) => scope !== "cron");
      if (own.length === 0) return [];
      return [{ scopes: own, queues, ...(payloads === "hidden" && { payloads }) }];
    });
  }

  /** Whether payloads of the queue are hidden from each grant that has one of the scopes for it. */
  hidesPayloads(queue: string, ...scopes: Scope[]): boolean {
    return !this.list.some(
      (grant) =>
        grant.payloads !== "hidden" &&
        matches(grant.queues, queue) &&
        scopes.some((scope) => includes(grant, scope)),
    );
  }
}

/** Whether the grant has the scope. `admin` includes `view`. */
function includes({ scopes }: Grant, scope: Scope | "cron"): boolean {
  return scopes.includes(scope) || (scope === "view" && scopes.includes("admin"));
}

/** Identifies callers. */
export interface Authenticating {
  /** Whether a caller can have the scope. */
  isConfiguredFor(scope: Scope | "cron"): boolean;
  /**
   * Returns what the caller may do.
   * @param authorization the header
   * @param scopes what the request needs, for the text of the problem
   * @throws {Problem} `unauthorized`
   */
  authenticate(authorization: string | undefined, scopes?: readonly (Scope | "cron")[]): Promise<Grants>;
}

/** Identifies callers by their bearer tokens. */
export class Authenticator implements Authenticating {
  readonly #tokens: readonly TokenEntry[];
  readonly #cronSecrets: readonly string[];
  #entries: readonly Entry[] | undefined;

  /** @throws {SluiceError} `invalid_argument`; the message contains no secret */
  constructor(tokens: readonly TokenEntry[], cronSecret: string | readonly string[] | undefined) {
    this.#tokens = parseTokens(tokens, "tokens");
    this.#cronSecrets = checkCronSecrets([cronSecret ?? []].flat(), "cronSecret");
  }

  get hasCronSecret(): boolean {
    return this.#cronSecrets.length > 0;
  }

  /** Whether a token, or for `cron` a token or a cron secret, is configured. */
  isConfiguredFor(scope: Scope | "cron"): boolean {
    return this.#tokens.length > 0 || (scope === "cron" && this.hasCronSecret);
  }

  /**
   * Returns what the caller may do.
   * @param authorization the header
   * @param scopes what the request needs, for the text of the problem
   * @throws {Problem} `unauthorized` if the header has no token, or an unknown one
   */
  async authenticate(
    authorization: string | undefined,
    scopes: readonly (Scope | "cron")[] = [],
  ): Promise<Grants> {
    // Reveals no way in: without the secret, cron is refused whatever it sends.
    const cron =
      scopes.includes("cron") && !this.hasCronSecret
        ? " CRON_SECRET is not set here, so the platform's cron has no token."
        : "";
    const token = /^Bearer +([!-~]+) *$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) {
      throw new Problem("unauthorized", {
        detail: "The request has no bearer token. Send the header `Authorization: Bearer <token>`." + cron,
        headers: { "www-authenticate": 'Bearer realm="sluice"' },
      });
    }
    // A value, not a promise: a Worker must not wait for work that another request started.
    this.#entries ??= await this.#digestEntries();
    const digest = await sha256(token);
    // Compares every entry in full, so that the time reveals nothing.
    const known = this.#entries.filter((entry) => equal(entry.digest, digest));
    if (known.length === 0) {
      throw new Problem("unauthorized", {
        detail:
          "This server does not know the token. Its tokens are in SLUICE_TOKENS, and that of its cron in CRON_SECRET." +
          cron,
        headers: { "www-authenticate": 'Bearer realm="sluice", error="invalid_token"' },
      });
    }
    return new Grants(known.map(({ grant }) => grant));
  }

  async #digestEntries(): Promise<Entry[]> {
    const tokens = this.#tokens.map(async ({ token, sha256: hex, ...grant }) => ({
      digest: hex === undefined ? await sha256(token ?? "") : fromHex(hex),
      grant,
    }));
    const cronSecrets = this.#cronSecrets.map(async (secret) => ({
      digest: await sha256(secret),
      grant: { scopes: ["cron"] as const, queues: "*" },
    }));
    return Promise.all([...tokens, ...cronSecrets]);
  }
}

/** The problem for a token that has none of the scopes, for this queue or for any. */
export function forbidden(scopes: readonly (Scope | "cron")[], queue: string | undefined): Problem {
  const missing = scopes.filter((scope) => scope !== "cron");
  const forQueue = queue === undefined ? "" : ` for the queue ${queue}`;
  const detail =
    missing.length === 0
      ? "This route accepts only the cron secret. With a token, send a POST."
      : `The token does not have the scope ${missing.join(" or ")}${forQueue}.`;
  return new Problem("forbidden", {
    detail,
    headers: { "www-authenticate": 'Bearer realm="sluice", error="insufficient_scope"' },
  });
}

/** The problem for a request whose answer would show what the token hides. */
export const payloadsHidden = (detail: string) => new Problem("forbidden", { detail });

/** Node's synchronous hash, if available. It is faster than WebCrypto, which Node runs in another thread. */
const hash = builtinModule("node:crypto")?.hash;

async function sha256(text: string): Promise<Uint8Array> {
  if (hash) return hash("sha256", text, "buffer");
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16),
  );
}

/** Compares in a time that does not depend on where the two differ. */
export function equal(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}
