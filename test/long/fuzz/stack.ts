/** What is fuzzed: the HTTP interface over a Redis of its own. */
import { operations } from "../../../src/http/operations/index.ts";
import { order } from "../../../src/open/order/index.ts";
import { debounce } from "../../../src/features/debounce/index.ts";
import type { IncomingHttpHeaders } from "node:http";
import { docs } from "../../../src/http/docs/index.ts";
import { deepSweep } from "../../../src/open/deep-sweep/index.ts";
import { flows } from "../../../src/http/flows/index.ts";
import { defineEndpoints } from "../../../src/http/endpoints/index.ts";
import { topics } from "../../../src/http/topics/index.ts";
import { createApp, type AppOptions } from "../../../src/http/index.ts";
import { resp } from "../../../src/transports/resp.ts";
import { sharedRedis } from "../../support/shared-redis.ts";

/** A request as it is sent. */
export interface Sent {
  readonly method: string;
  /** With its query, percent-encoded. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array | undefined;
}

export interface Answered {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** The bearer token of every scope, for every queue. */
export const token = "fuzz-0123456789abcdef";
export const cronSecret = "cron-0123456789abcdef";
export const tokens: AppOptions["tokens"] = [{ token, scopes: ["enqueue", "consume", "admin"], queues: "*" }];

export interface Stack {
  readonly redisUrl: string;
  readonly send: (sent: Sent) => Promise<Answered>;
  /** Empties Redis, except its scripts. */
  readonly empty: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** The app in this process. */
export async function openAppStack(): Promise<Stack> {
  const redis = await sharedRedis();
  const transport = resp(redis.url);
  const app = createApp({
    operations,
    transport,
    tokens,
    cronSecret,
    docs,
    deepSweep,
    order,
    debounce,
    flows,
    parts: [topics, defineEndpoints()],
    onError: () => {},
  });
  return {
    redisUrl: redis.url,
    send: (sent) => fetched(app.fetch, sent),
    empty: async () => void (await transport.send([["FLUSHALL"]])),
    async close() {
      await transport.close();
      await redis.stop();
    },
  };
}

/** The answer of an app to a request. */
export async function fetched(
  fetch: (request: Request) => Response | Promise<Response>,
  { method, path, headers, body }: Sent,
): Promise<Answered> {
  const init = { method, headers, ...(body !== undefined && { body: Buffer.from(body) }) };
  const response = await fetch(new Request(`http://sluice.test${path}`, init));
  return {
    status: response.status,
    headers: Object.fromEntries(response.headers),
    text: await response.text(),
  };
}
