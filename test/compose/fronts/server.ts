import { createApp } from "../../../src/http/app.ts";
import { defineQueue } from "../../../src/index.ts";
import type { Waker } from "../../../src/queue/tasks/waker.ts";
import { asker, tokens } from "../../http/served.ts";
import { QUEUE, type Rig } from "../../support/rig.ts";
import type { Given } from "../front.ts";

/** A server of the HTTP interface that knows no declarations: the queue was declared to another one. */
export async function server(rig: Rig, { declaration, prefix, tracing }: Given, wake: Waker["wake"]) {
  const { settings, schedules, partitions, options } = defineQueue(QUEUE, declaration);
  const { offload } = options;
  const app = createApp({ transport: rig.transport, tokens, prefix, tracing, offload, wake: { wake } });
  const ask = asker((request) => app.fetch(request));
  const other = createApp({ transport: { send: rig.transport.send }, tokens, prefix });
  const path = `/v1/queues/${QUEUE}`;
  const json = {
    settings,
    partitions,
    schedules: Object.entries(schedules).map(([name, schedule]) => ({ name, ...schedule })),
  };
  const declared = await asker((request) => other.fetch(request))("PUT", `${path}/declaration`, { json });
  if (declared.status !== 200) throw new Error(JSON.stringify(declared.body));
  return { app, ask, path };
}
