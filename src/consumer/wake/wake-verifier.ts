import { isSigned, signingKey, TOLERANCE } from "./signature.ts";

/** So many wakes are remembered; a busier instance forgets the oldest before its time. */
const MOST = 10_000;

/** For how long a signature can be valid after it came, ms: it may be dated ahead as far as back. */
const MEMORY = 2 * TOLERANCE * 1_000;

/**
 * Lets in wakes that one of the secrets signed, each once. What came is remembered here, not in Redis: a copy that reaches
 * another instance drains a queue, which a cron may do at any time too, and costs what a pull costs that finds nothing.
 */
export class WakeVerifier {
  readonly #secrets: readonly string[];
  #keys: readonly CryptoKey[] | undefined;
  /** When each wake that came is forgotten, epoch ms, the first to be forgotten first. */
  readonly #seen = new Map<string, number>();

  constructor(secret: string | readonly string[]) {
    this.#secrets = [secret].flat();
  }

  /** @throws {SluiceError} `invalid_argument` for a secret of another form */
  async verify(headers: Headers, body: string): Promise<"valid" | "unsigned" | "replayed"> {
    this.#keys ??= await Promise.all(this.#secrets.map((secret) => signingKey(secret)));
    // Before anything is remembered: who knows no secret fills no memory.
    if (!(await isSigned(this.#keys, headers, body))) return "unsigned";
    // Both are signed. A sender may try again under the same id, at another time.
    const wake = `${headers.get("webhook-timestamp")} ${headers.get("webhook-id")}`;
    if (this.#seen.has(wake)) return "replayed";
    const now = Date.now();
    for (const [oldest, until] of this.#seen) {
      if (until > now && this.#seen.size < MOST) break;
      this.#seen.delete(oldest);
    }
    this.#seen.set(wake, now + MEMORY);
    return "valid";
  }
}
