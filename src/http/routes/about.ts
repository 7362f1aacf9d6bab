import { SluiceError } from "../../errors.ts";
import { json, respond } from "../responses/respond.ts";
import { type App, type Services } from "../request/context.ts";
import { docsPage } from "../docs/docs-page.ts";
import { openapi } from "../docs/openapi.gen.ts";
import type * as replies from "../replies/operation.ts";
import type { ReplyOf } from "../replies/values.ts";

/** How long a probe waits for Redis, ms: anybody may ask, and who asks waits. */
const PROBE = 2_000;

/** What is open to everybody: whether it runs, and how to use it. */
export function aboutRoutes(app: App, { transport }: Services): void {
  app.get("/health", async () => {
    const signal = AbortSignal.timeout(PROBE);
    const [outcome] = await transport.send([["PING"]], { signal }).catch((error: unknown) => {
      throw signal.aborted ? new SluiceError("redis_unreachable", "Redis did not answer a PING") : error;
    });
    if (outcome && "error" in outcome) throw outcome.error;
    if (outcome?.reply !== "PONG")
      throw new SluiceError("unexpected_reply", "PING was not answered with PONG");
    const reply: ReplyOf<typeof replies.health> = { status: "ok" };
    return json(reply);
  });

  // Relative, so that it holds wherever the app is mounted.
  app.get("/", () => respond(null, 302, { location: "docs" }));

  app.get("/openapi.json", () => json(openapi, 200, { "cache-control": "no-cache" }));

  app.get("/docs", async () => docsPage(openapi));
}
