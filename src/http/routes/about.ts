import { SluiceError } from "../../errors.ts";
import { unusedKey } from "../../kernel/names/keys.ts";
import { causedBy } from "../../retry.ts";
import type { App, Services } from "../services.ts";
import type * as replies from "../response-schemas/about.ts";
import { reply } from "../responses/reply.ts";

/** How long a health check waits for Redis, ms. Short, because the route is public. */
const HEALTH_TIMEOUT = 2_000;

/** The health check, a public route. */
export function aboutRoutes(app: App, { transport, prefix }: Services): void {
  const unused = unusedKey(prefix);

  app.get("/health", async () => {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT);
    // A write that changes nothing: only a Redis that takes writes answers it.
    const [result] = await transport.send([["UNLINK", unused]], { signal }).catch((error: unknown) => {
      throw signal.aborted ? tookNoWrite(error) : error;
    });
    if (result && "error" in result) throw result.error;
    if (result?.reply !== 0)
      throw new SluiceError("unexpected_reply", "Redis did not reply to UNLINK with 0");
    return reply<typeof replies.health>({ status: "ok" });
  });
}

function tookNoWrite(error: unknown): SluiceError {
  const text = `Redis took no write within ${HEALTH_TIMEOUT} ms`;
  return causedBy((error as Error | undefined)?.cause, new SluiceError("redis_unreachable", text));
}
