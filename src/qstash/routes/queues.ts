import { json } from "../../respond.ts";
import { listQueues, pauseQueue, readQueue, removeQueue, upsertQueue } from "../kept/queues.ts";
import type { Dialect, DialectApp } from "./dialect.ts";
import { done, readJson } from "./requests.ts";

/** `/v2/queues`: the queues of QStash, which are groups of one queue here. */
export function queueRoutes(app: DialectApp, dialect: Dialect): void {
  app.post("/v2/queues", async (c) => {
    await upsertQueue(dialect.session(c), await readJson(c, dialect));
    return done();
  });
  app.get("/v2/queues", async (c) => json(await listQueues(dialect.session(c))));
  app.get("/v2/queues/:name", async (c) => json(await readQueue(dialect.session(c), c.req.param("name"))));
  app.delete("/v2/queues/:name", async (c) => {
    await removeQueue(dialect.session(c), c.req.param("name"), dialect.budget);
    return done();
  });
  for (const verb of ["pause", "resume"] as const) {
    app.post(`/v2/queues/:name/${verb}`, async (c) => {
      await pauseQueue(dialect.session(c), c.req.param("name"), verb === "pause");
      return done();
    });
  }
}
