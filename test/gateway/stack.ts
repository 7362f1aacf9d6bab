import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { connectRedis } from "../../src/local/gateway/redis.ts";
import type { Argument } from "../../src/local/gateway/redis-client.ts";
import { type GatewayOptions, startGateway } from "../../src/local/index.ts";
import { sharedRedis, type SharedRedis } from "../support/shared-redis.ts";

export const token = "standard-token";
export const readOnlyToken = "read-only-token";

/** A Redis, the shared one if none is given, with a gateway in front of it. */
export async function startStack(options: Partial<GatewayOptions> = {}, given?: SharedRedis) {
  const redis = given ?? (await sharedRedis());
  const direct = await connectRedis(redis.url, () => {});
  const gateway = await startGateway({ redisUrl: redis.url, token, readOnlyToken, ...options });
  return {
    gateway,
    redis,
    /** The same Redis without the gateway. */
    direct,
    /** One request with the standard token; a body that is no string is sent as JSON. */
    rest: (path: string, body?: unknown, init?: RequestInit) => rest(gateway.url, path, body, init),
    async stop() {
      await gateway.close();
      direct.close();
      await redis.stop();
    },
  };
}

export type Stack = Awaited<ReturnType<typeof startStack>>;

/** Registers a stack for a test file, without keys, scripts and faults before each test. */
export function useStack(options: Partial<GatewayOptions> = {}) {
  const its = {} as { stack: Stack };
  beforeAll(async () => {
    its.stack = await startStack(options);
  });
  afterAll(() => its.stack.stop());
  beforeEach(async () => {
    const { direct, gateway } = its.stack;
    gateway.faults.clear();
    await direct.send(["FLUSHALL"]);
    await direct.send(["SCRIPT", "FLUSH"]);
    gateway.resetUsage();
  });
  return {
    its,
    /** One request. Returns only status and JSON. */
    ask: async (path: string, body?: unknown, init?: RequestInit) => {
      const { status, json } = await its.stack.rest(path, body, init);
      return [status, json];
    },
    /** One command, as words or with spaces between them. */
    run: async (command: string | readonly unknown[]) => {
      const { status, json } = await its.stack.rest("/", words(command));
      return [status, json];
    },
    direct: (...command: readonly [Argument, ...Argument[]]) => its.stack.direct.send(command),
  };
}

export const words = (command: string | readonly unknown[]) =>
  typeof command === "string" ? command.split(" ") : command;

export const sha1 = (text: string) => createHash("sha1").update(text).digest("hex");

/** Status and JSON of a success, and of a failure. */
export const ok = (result: unknown) => [200, { result }];
export const failed = (error: unknown, status = 400) => [status, { error }];

/** The answer to a command that Upstash does not have. */
export const unavailable = (name: string) =>
  failed(
    `ERR Command is not available: '${name}'. See https://upstash.com/docs/redis/overall/rediscompatibility for details`,
  );

export async function rest(
  url: string,
  path: string,
  body?: unknown,
  { headers, ...init }: RequestInit = {},
) {
  const response = await fetch(url + path, {
    method: body === undefined ? "GET" : "POST",
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...init,
    headers: { authorization: `Bearer ${token}`, ...(headers as Record<string, string> | undefined) },
  });
  const text = await response.text();
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, text, json, headers: response.headers };
}
