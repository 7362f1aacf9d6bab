import { isSigned, signingKey, TOLERANCE } from "../../signature.ts";

/** Most wakes that are remembered. A busier instance forgets the oldest early. */
const MAX_REMEMBERED = 10_000;

/**
 * How long wakes are remembered, ms. Twice the tolerance, because a signature may be dated ahead by as much.
 */
const REMEMBER_FOR = 2 * TOLERANCE * 1_000;

/**
 * Verifies that one of the secrets signed a wake, and that the wake is not a copy of an earlier one. Wakes
 * are remembered in this instance, not in Redis: a copy that reaches another instance only drains a queue
 * once more.
 */
export class WakeVerifier {
  readonly #secrets: readonly string[];
  #keys: readonly CryptoKey[] | undefined;
  /** When each wake is forgotten, epoch ms, in that order. */
  readonly #seen = new Map<string, number>();

  constructor(secret: string | readonly string[]) {
    this.#secrets = [secret].flat();
  }

  /** @throws {SluiceError} `invalid_argument` if a secret has the wrong form */
  async verify(headers: Headers, body: string): Promise<"valid" | "unsigned" | "replayed"> {
    this.#keys ??= await Promise.all(this.#secrets.map((secret) => signingKey(secret)));
    // First, so that unsigned requests cannot fill the memory.
    if (!(await isSigned(this.#keys, headers, body))) return "unsigned";
    // With the timestamp, because a sender may try again with the same id and another timestamp.
    const wake = `${headers.get("webhook-timestamp")} ${headers.get("webhook-id")}`;
    if (this.#seen.has(wake)) return "replayed";
    const now = Date.now();
    for (const [oldest, until] of this.#seen) {
      if (until > now && this.#seen.size < MAX_REMEMBERED) break;
      this.#seen.delete(oldest);
    }
    this.#seen.set(wake, now + REMEMBER_FOR);
    return "valid";
  }
}
