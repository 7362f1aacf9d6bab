import { SluiceError } from "../../errors.ts";
import { json, respond } from "../../respond.ts";
import type { App, Services } from "../services.ts";
import { docsPage } from "../docs/docs-page.ts";
import { openapi } from "../docs/openapi.gen.ts";
import type * as replies from "../response-schemas/about.ts";
import type { ReplyOf } from "../response-schemas/values.ts";

/** How long a health check waits for Redis, ms. Short, because the route is public. */
const HEALTH_TIMEOUT = 2_000;

/** The public routes: the health check and the documentation. */
export function aboutRoutes(app: App, { transport }: Services): void {
  app.get("/health", async () => {
    const signal = AbortSignal.timeout(HEALTH_TIMEOUT);
    const [result] = await transport.send([["PING"]], { signal }).catch((error: unknown) => {
      throw signal.aborted ? new SluiceError("redis_unreachable", "Redis did not answer a PING") : error;
    });
    if (result && "error" in result) throw result.error;
    if (result?.reply !== "PONG")
      throw new SluiceError("unexpected_reply", "Redis did not reply to PING with PONG");
    const reply: ReplyOf<typeof replies.health> = { status: "ok" };
    return json(reply);
  });

  // Relative, so that it is right wherever the app is mounted.
  app.get("/", () => respond(null, 302, { location: "docs" }));

  app.get("/openapi.json", () => json(openapi, 200, { "cache-control": "no-cache" }));

  app.get("/docs", async () => docsPage(openapi));
}
