import { queueOverviews } from "../../operate/count-queues.ts";
import { forbidden } from "../auth/authenticator.ts";
import { readQuery } from "../request/read.ts";
import { overviewQuery } from "../request-schemas/overview.ts";
import type * as replies from "../response-schemas/overview.ts";
import { reply } from "../responses/reply.ts";
import { overviewReply } from "../responses/overview.ts";
import type { App, Services } from "../services.ts";

/** What there is to see of several queues at a glance, in one request to Redis. */
export function overviewRoutes(app: App, { transport, prefix, allow }: Services): void {
  app.get("/v1/overview", allow("view"), async (c) => {
    const names = readQuery(c, overviewQuery).queues.split(",");
    const refused = names.find((name) => !c.get("grants").allows("view", name));
    if (refused !== undefined) throw forbidden(["view"], refused);
    const found = await queueOverviews(transport, names, { prefix });
    return reply<typeof replies.overviews>({
      now: found.find((one) => "now" in one)?.now ?? null,
      queues: found.map((one) => ("code" in one ? one : overviewReply(one))),
    });
  });
}
