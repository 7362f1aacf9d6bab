import { json } from "../../respond.ts";
import { Failure, missing, WORKFLOW } from "../failure.ts";
import type { Dialect, DialectApp } from "./dialect.ts";

/** What QStash has and this dialect has not, with what to use in its place. */
const absent: readonly (readonly [path: string, what: string, instead: string])[] = [
  ...["workflows", "wait", "waiters", "notify"].map(
    (path) => [`/v2/${path}/*`, "Upstash Workflow", WORKFLOW] as const,
  ),
  ["/v2/keys/*", "the rotation of signing keys", "change the option qstash.signingKeys of the deployment"],
  [
    "/llm/*",
    "the API of language models",
    "publish to the URL of the provider, with its key in Upstash-Forward-Authorization",
  ],
];

/** The signing keys, and an answer for all other paths. */
export function missingRoutes(app: DialectApp, dialect: Dialect): void {
  app.get("/v2/keys", (c) => {
    const [current, next] = dialect.session(c).settings.signingKeys;
    return json({ current, next });
  });
  for (const [path, what, instead] of absent) {
    app.all(path, () => {
      throw missing(what, instead);
    });
  }
  app.all("/v2/*", (c) => {
    throw new Failure(404, `${c.req.method} ${c.req.path} is not a route of QStash that this server has`);
  });
}
