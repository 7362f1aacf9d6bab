import { json, respond } from "../../respond.ts";
import type { Docs } from "../docs/docs.ts";
import { isOff, loaded } from "../parts.ts";
import { Problem } from "../problems/problem.ts";
import type { App, Services } from "../services.ts";

const OFF = isOff("does not serve its documentation", "docs");

/** The OpenAPI document, its page, and the redirect of `/`. */
export function docsRoutes(app: App, { docs, hasDashboard }: Services): void {
  const load = async (): Promise<Docs> => {
    if (!docs) throw new Problem("no_route", { detail: OFF });
    return loaded(docs);
  };
  const home = hasDashboard ? "dashboard" : docs ? "docs" : undefined;
  // Relative, so that it is right wherever the app is mounted.
  if (home !== undefined) app.get("/", () => respond(null, 302, { location: home }));

  app.get("/openapi.json", async () => json((await load()).openapi, 200, { "cache-control": "no-cache" }));

  app.get("/docs", async () => (await load()).page());
}
