import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Client, Receiver } from "@upstash/qstash";
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from "vitest";
import { serve, type ServeOptions, type Server } from "../../serverless/node.ts";
import type { QStashOptions } from "../../src/qstash/index.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

export const TOKEN = "qstash-0123456789abcdef";
export const SIGNING_KEYS = ["sig_current_0123456789", "sig_next_0123456789"] as const;

/** A request that the receiver got. */
export interface Received {
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** How the receiver answers. @default 200, with the body `ok` */
export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
}

/**
 * A deployment on Node with the dialect, QStash's own client, and a receiver. They stay for all tests of a file, so each
 * test uses names of its own.
 */
export function useQStash(settings: Partial<QStashOptions> = {}, options: ServeOptions = {}) {
  const rig = {} as {
    redis: SharedRedis;
    server: Server;
    client: Client;
    /** The URL of the receiver. */
    url: string;
    /** What it got in this test. */
    received: Received[];
    answer: (request: Received) => Answer | Promise<Answer>;
  };
  const verifier = new Receiver({ currentSigningKey: SIGNING_KEYS[0], nextSigningKey: SIGNING_KEYS[1] });
  let receiver: HttpServer;

  beforeAll(async () => {
    rig.redis = await sharedRedis();
    const receive = async (request: IncomingMessage, response: ServerResponse) => {
      const { url: path = "", method = "", headers } = request;
      const got = { path, method, headers, body: await text(request) };
      rig.received.push(got);
      const { status = 200, headers: own = {}, body = "ok" } = await rig.answer(got);
      response.writeHead(status, own).end(body);
    };
    receiver = createServer((request, response) => void receive(request, response));
    await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
    rig.url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    rig.server = await serve({
      env: { REDIS_URL: rig.redis.url },
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      logger: "silent",
      qstash: { token: TOKEN, signingKeys: SIGNING_KEYS, allowPrivate: ["127.0.0.1"], ...settings },
      ...options,
    });
    rig.client = clientOf(TOKEN);
    // The order of queues is a declared setting, which the first cron applies.
    const order = async () => (await rig.server.operator("qstash-queues").settings()).order;
    await vi.waitUntil(async () => (await order()) === "strict", { timeout: 10_000, interval: 5 });
  });
  beforeEach(() => {
    rig.received = [];
    rig.answer = () => ({});
    // The client writes each request that fails to the console.
    for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockImplementation(() => {});
  });
  afterEach(() => void vi.restoreAllMocks());
  afterAll(async () => {
    await rig.server.close();
    receiver.close();
    receiver.closeAllConnections();
    await rig.redis.stop();
  });

  const clientOf = (token: string) =>
    new Client({ baseUrl: rig.server.url, token, retry: false, enableTelemetry: false, devMode: false });

  return Object.assign(rig, {
    clientOf,
    /** Waits until the receiver has got so many requests to the path, and returns them. */
    async requestsTo(path: string, count = 1): Promise<Received[]> {
      const those = () => rig.received.filter((one) => one.path === path);
      await expect.poll(() => those().length, { timeout: 10_000, interval: 5 }).toBeGreaterThanOrEqual(count);
      return those();
    },
    /** Whether QStash's own receiver accepts the signature of a request. */
    verify: ({ headers, body }: Received, url?: string) =>
      verifier.verify({ signature: String(headers["upstash-signature"]), body, ...(url && { url }) }),
    /** A request that the client has no method for. */
    request: (method: string, path: string, init: RequestInit = {}) =>
      fetch(`${rig.server.url}${path}`, {
        method,
        ...init,
        headers: { authorization: `Bearer ${TOKEN}`, ...(init.headers as Record<string, string>) },
      }),
  });
}
