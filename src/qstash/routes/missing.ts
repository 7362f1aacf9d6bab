import { Failure, missing } from "../failure.ts";
import type { DialectApp } from "./dialect.ts";

/** What QStash has and this dialect has not, with what to use in its place. */
const absent: readonly (readonly [path: string, what: string, instead: string])[] = [
  ["/v2/workflows/*", "Upstash Workflow", "tasks that wait for others are the flows of sluice-queue/flows"],
  ["/v2/keys", "the signing keys of an account", "they are the option qstash.signingKeys of the deployment"],
  ["/v2/keys/*", "the rotation of signing keys", "change the option qstash.signingKeys of the deployment"],
];

/** Answers all other paths. */
export function missingRoutes(app: DialectApp): void {
  for (const [path, what, instead] of absent) {
    app.all(path, () => {
      throw missing(what, instead);
    });
  }
  app.all("/v2/*", (c) => {
    throw new Failure(404, `${c.req.method} ${c.req.path} is not a route of QStash that this server has`);
  });
}
