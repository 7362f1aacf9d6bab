import * as v from "valibot";
import { invalidArgument } from "../../errors.ts";
import { Problem } from "../problems/problem.ts";
import { faultsOf, fields, wording } from "../request/validate.ts";

/** What a token allows: adding and following tasks, working on them, or operating queues. */
export type Scope = "enqueue" | "consume" | "admin";

/** What {@link isSecret} asks for. */
export const secretWords = "must be 16 to 512 visible ASCII characters";
/** What a token or the cron secret looks like. */
const SECRET = /^[!-~]{16,512}$/;
const digestWords = "must be a SHA-256 in 64 hexadecimal digits";
const scopesWords = "must list at least one of enqueue, consume, admin";
const queuesWords = "must be a pattern of queue names, in which * stands for any characters";

const tokenEntry = v.pipe(
  fields({
    token: v.exactOptional(v.pipe(v.string(secretWords), v.regex(SECRET, secretWords))),
    sha256: v.exactOptional(v.pipe(v.string(digestWords), v.regex(/^[0-9a-f]{64}$/i, digestWords))),
    scopes: v.pipe(
      v.array(v.picklist(["enqueue", "consume", "admin"], "must be enqueue, consume or admin"), scopesWords),
      v.minLength(1, scopesWords),
    ),
    queues: v.pipe(v.string(queuesWords), v.regex(/^[A-Za-z0-9_.*-]{1,128}$/, queuesWords)),
  }),
  v.check(
    (entry) => (entry.token === undefined) !== (entry.sha256 === undefined),
    "must have either token or sha256",
  ),
);

/**
 * One bearer token, as itself or as its SHA-256 in hexadecimal, what it allows, and for which queues.
 * In `queues`, `*` stands for any characters and is the only wildcard: `"emails-*"`, `"*"`. It has to
 * be said: a token that was forgotten to be narrowed must not open every queue. The same token may
 * stand in several entries.
 */
export type TokenEntry = v.InferOutput<typeof tokenEntry>;

/**
 * Checks entries that come from outside.
 * @param path how the input is called in the error
 * @throws {SluiceError} invalid_argument; the message says which entry is wrong, and no secret
 */
export function parseTokens(input: unknown, path: string): TokenEntry[] {
  const schema = v.array(tokenEntry, "must be an array of tokens");
  const parsed = v.safeParse(schema, input, { message: wording });
  if (parsed.success) return parsed.output;
  const [fault] = faultsOf(parsed.issues);
  const at = `${path}${fault?.path ?? ""}`;
  throw invalidArgument(at, fault?.message ?? "is not valid");
}

interface Entry {
  readonly digest: Uint8Array;
  readonly grant: Grant;
}

interface Grant {
  readonly scopes: readonly (Scope | "cron")[];
  readonly queues: string;
}

/** What one caller may do. */
export class Grants {
  readonly #grants: readonly Grant[];

  constructor(grants: readonly Grant[]) {
    this.#grants = grants;
  }

  /** Whether the scope is held for at least one queue. */
  has(scope: Scope | "cron"): boolean {
    return this.#grants.some((grant) => grant.scopes.includes(scope));
  }

  /** Whether the scope is held for that queue. */
  allows(scope: Scope | "cron", queue: string): boolean {
    return this.#grants.some((grant) => grant.scopes.includes(scope) && matches(grant.queues, queue));
  }
}

/** Tells callers apart by their bearer tokens. */
export class Authenticator {
  readonly #tokens: readonly TokenEntry[];
  readonly #cronSecrets: readonly string[];
  #entries: readonly Entry[] | undefined;

  /** @throws {SluiceError} invalid_argument; the message holds no secret */
  constructor(tokens: readonly TokenEntry[], cronSecret: string | readonly string[] | undefined) {
    this.#tokens = parseTokens(tokens, "tokens");
    this.#cronSecrets = [cronSecret ?? []].flat();
    if (!this.#cronSecrets.every(isSecret)) throw invalidArgument("cronSecret", secretWords);
  }

  /** Whether anybody could be let in at all. */
  opensFor(scope: Scope | "cron"): boolean {
    return this.#tokens.length > 0 || (scope === "cron" && this.#cronSecrets.length > 0);
  }

  /**
   * @param authorization the header
   * @throws {Problem} unauthorized
   */
  async admit(authorization: string | undefined): Promise<Grants> {
    const token = /^Bearer +([!-~]+) *$/i.exec(authorization ?? "")?.[1];
    if (token === undefined) {
      throw new Problem("unauthorized", {
        detail: "Send a token: `Authorization: Bearer …`.",
        headers: { "www-authenticate": 'Bearer realm="sluice"' },
      });
    }
    // Kept as a value, not as a promise: a Worker must not wait for what another request started.
    this.#entries ??= await this.#digest();
    const digest = await sha256(token);
    // Every entry is compared in full, so that the time tells nothing.
    const known = this.#entries.filter((entry) => equal(entry.digest, digest));
    if (known.length === 0) {
      throw new Problem("unauthorized", {
        detail: "The token is not known here.",
        headers: { "www-authenticate": 'Bearer realm="sluice", error="invalid_token"' },
      });
    }
    return new Grants(known.map(({ grant }) => grant));
  }

  async #digest(): Promise<Entry[]> {
    const tokens = this.#tokens.map(async ({ token, sha256: hex, scopes, queues }) => ({
      digest: hex === undefined ? await sha256(token ?? "") : fromHex(hex),
      grant: { scopes, queues },
    }));
    const ofCron = this.#cronSecrets.map(async (secret) => ({
      digest: await sha256(secret),
      grant: { scopes: ["cron"] as const, queues: "*" },
    }));
    return Promise.all([...tokens, ...ofCron]);
  }
}

/** What a caller is told whose token has none of the scopes, for that queue or for any. */
export function forbidden(scopes: readonly (Scope | "cron")[], queue: string | undefined): Problem {
  const wanted = scopes.filter((scope) => scope !== "cron");
  const detail =
    wanted.length === 0
      ? "Only the cron secret opens this; with a token use POST."
      : `The token has not the scope ${wanted.join(" or ")}${queue === undefined ? "" : ` for the queue ${queue}`}.`;
  return new Problem("forbidden", {
    detail,
    headers: { "www-authenticate": 'Bearer realm="sluice", error="insufficient_scope"' },
  });
}

/** Node's own hash, where the runtime has it: WebCrypto of Node sends each to a thread and back. */
const hash = globalThis.process?.getBuiltinModule?.("node:crypto")?.hash;

async function sha256(text: string): Promise<Uint8Array> {
  if (hash) return hash("sha256", text, "buffer");
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));
}

function fromHex(hex: string): Uint8Array {
  return Uint8Array.from({ length: hex.length / 2 }, (_, at) =>
    Number.parseInt(hex.slice(at * 2, at * 2 + 2), 16),
  );
}

/** Whether it may be a token or a cron secret. */
export function isSecret(value: unknown): boolean {
  return typeof value === "string" && SECRET.test(value);
}

/** Compares in a time that does not depend on where the two differ. */
export function equal(one: Uint8Array, other: Uint8Array): boolean {
  let difference = one.length ^ other.length;
  for (let at = 0; at < one.length; at++) difference |= (one[at] ?? 0) ^ (other[at] ?? 0);
  return difference === 0;
}

/** Whether the name fits the pattern, in which `*` stands for any characters. */
export function matches(pattern: string, name: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const end = rest.pop() ?? "";
  if (!name.startsWith(start) || !name.endsWith(end)) return false;
  let at = start.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - end.length;
}
