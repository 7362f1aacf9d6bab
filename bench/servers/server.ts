// One of the servers of `bench:servers`. Its handlers wait, as for a mail service.

import { setTimeout } from "node:timers/promises";
import { serve } from "../../serverless/node.ts";

console.log = () => {};
let done = 0;
const { url } = await serve({
  port: 0,
  hostname: "127.0.0.1",
  consumers: {
    equal: {
      concurrency: 5,
      async handler({ payload }: { readonly payload: number }) {
        await setTimeout(payload);
        done++;
      },
    },
  },
  async fetch(request, { queue }) {
    const params = new URL(request.url).searchParams;
    const [tasks, ms] = [Number(params.get("tasks")), Number(params.get("ms"))];
    if (tasks > 0) await queue("equal").enqueueMany(Array.from({ length: tasks }, () => ({ payload: ms })));
    return Response.json({ done });
  },
});
process.send?.(url);
