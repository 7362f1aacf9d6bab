import * as v from "valibot";
import { invalidArgument } from "../../errors.ts";
import { QUEUE_PATTERN, queuePatternForm } from "../../kernel/names/queue-pattern.ts";
import { defaultMessage, fieldErrors, fields } from "../request/validate.ts";

/**
 * What a token may allow: to enqueue and follow tasks, to consume them, to look at queues, or to operate them.
 * `admin` includes `view`.
 */
export const scopes = ["enqueue", "consume", "view", "admin"] as const;

export type Scope = (typeof scopes)[number];

/** The form of a token or a cron secret. */
const SECRET = /^[!-~]{16,512}$/;

const secretForm = "must be 16 to 512 visible ASCII characters";
const digestForm = "must be a SHA-256 in 64 hexadecimal digits";
const scopesForm = `must list at least one of ${scopes.join(", ")}`;

const tokenEntry = v.pipe(
  fields({
    token: v.exactOptional(v.pipe(v.string(secretForm), v.regex(SECRET, secretForm))),
    sha256: v.exactOptional(v.pipe(v.string(digestForm), v.regex(/^[0-9a-f]{64}$/i, digestForm))),
    scopes: v.pipe(
      v.array(v.picklist(scopes, "must be enqueue, consume, view or admin"), scopesForm),
      v.minLength(1, scopesForm),
    ),
    queues: v.pipe(v.string(queuePatternForm), v.regex(QUEUE_PATTERN, queuePatternForm)),
    payloads: v.exactOptional(v.picklist(["shown", "hidden"], "must be shown or hidden")),
  }),
  v.check(
    (entry) => (entry.token === undefined) !== (entry.sha256 === undefined),
    "must have either token or sha256",
  ),
);

/**
 * One bearer token: `token` itself, or its `sha256` in hexadecimal; its scopes; and the queues that it is
 * valid for. In `queues`, `*` matches any characters and is the only wildcard: `"emails-*"`, `"*"`. `queues`
 * is required, so that no token opens every queue by an omission. `payloads: "hidden"` leaves payloads,
 * results, progress and headers out of all replies; the default is `"shown"`. Several entries may have the same
 * token.
 */
export type TokenEntry = v.InferOutput<typeof tokenEntry>;

/**
 * Checks token entries, such as those of `SLUICE_TOKENS`.
 * @param path the name of the input in the error
 * @throws {SluiceError} `invalid_argument`; the message names the invalid entry and contains no secret
 */
export function parseTokens(input: unknown, path: string): TokenEntry[] {
  const schema = v.array(tokenEntry, "must be an array of tokens");
  const parsed = v.safeParse(schema, input, { message: defaultMessage });
  if (parsed.success) return parsed.output;
  const [error] = fieldErrors(parsed.issues);
  throw invalidArgument(`${path}${error?.path ?? ""}`, error?.message ?? "is invalid");
}

/**
 * Checks cron secrets.
 * @param path the name of the input in the error
 * @throws {SluiceError} `invalid_argument`; the message contains no secret
 */
export function checkCronSecrets(secrets: readonly string[], path: string): readonly string[] {
  if (secrets.every((secret) => typeof secret === "string" && SECRET.test(secret))) return secrets;
  throw invalidArgument(path, secretForm);
}
