// A server of bench/http.ts on Node, in a process of its own. The bench asks it for the CPU time that it has
// used.

import { once } from "node:events";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import type { Hono } from "hono";
import { serve } from "../../serverless/node.ts";
import { resp } from "../../src/transports/resp.ts";
import { bare, echo } from "./apps.ts";

/** What the bench sends a server, once. */
export interface Setting {
  readonly redisUrl: string;
  readonly tokens: string;
  readonly answers: Readonly<Record<string, unknown>>;
}

function listen(app: Hono): Promise<number> {
  const server = createAdaptorServer({ fetch: app.fetch }) as Server;
  return new Promise((resolve) =>
    server.listen(0, "127.0.0.1", () => resolve((server.address() as AddressInfo).port)),
  );
}

const subjects: Readonly<Record<string, (setting: Setting) => Promise<number>>> = {
  echo: ({ answers }) => listen(echo(answers)),
  bare: ({ redisUrl }) => listen(bare(resp(redisUrl))),
  sluice: async ({ redisUrl, tokens }) => {
    const env = { REDIS_URL: redisUrl, SLUICE_TOKENS: tokens };
    const { url } = await serve({ env, port: 0, hostname: "127.0.0.1", every: "1h", signals: false });
    return Number(new URL(url).port);
  },
};

const [setting] = (await once(process, "message")) as [Setting];
process.send?.({ port: await subjects[process.argv[2] ?? ""]?.(setting) });
process.on("disconnect", () => process.exit());
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ cpu: user + system });
});
