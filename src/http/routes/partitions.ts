import { operatorOf } from "../../open/operator.ts";
import { readBody, readQuery, requestOptions } from "../request/read.ts";
import * as schemas from "../request-schemas/partitions.ts";
import type * as replies from "../response-schemas/partitions.ts";
import { reply } from "../responses/reply.ts";
import type { App, Services } from "../services.ts";

/** Show the partitions of a queue, and change their number. */
export function partitionRoutes(app: App, services: Services): void {
  app.get("/v1/queues/:queue/partitions", services.allow("view"), async (c) => {
    readQuery(c);
    return reply<typeof replies.queuePartitions>(await operatorOf(c.get("open")).listPartitions());
  });

  app.put("/v1/queues/:queue/partitions", services.allow("admin"), async (c) => {
    const options = requestOptions(c);
    const { count } = await readBody(c, services, schemas.partitionCount);
    const changed = operatorOf(c.get("open"));
    await changed.resize(count, options);
    return reply<typeof replies.queuePartitions>(await changed.listPartitions());
  });
}
