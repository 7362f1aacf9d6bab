import { operations } from "../../src/http/operations/index.ts";
import { order } from "../../src/open/order/index.ts";
import { debounce } from "../../src/features/debounce/index.ts";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { docs } from "../../src/http/docs/index.ts";
import { deepSweep } from "../../src/open/deep-sweep/index.ts";
import { flows } from "../../src/http/flows/index.ts";
import { defineEndpoints } from "../../src/http/endpoints/index.ts";
import { endpointRoutes } from "../../src/http/routes/endpoints.ts";
import { flowRoutes } from "../../src/http/routes/flows.ts";
import { topicRoutes } from "../../src/http/routes/topics.ts";
import { topics } from "../../src/http/topics/index.ts";
import { createApp, type AppOptions } from "../../src/http/index.ts";
import type { TokenEntry } from "../../src/http/auth/tokens.ts";
import { type ProblemCode, problems } from "../../src/http/problems/codes.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { resp } from "../../src/transports/resp.ts";
import { startRedis } from "../support/redis.ts";
import { sharedRedis } from "../support/shared-redis.ts";

export const secrets = {
  all: "all-0123456789abcdef",
  enqueue: "enqueue-0123456789abcdef",
  consume: "consume-0123456789abcdef",
  view: "view-0123456789abcdef",
  admin: "admin-0123456789abcdef",
  mails: "mails-0123456789abcdef",
  mixed: "mixed-0123456789abcdef",
  cron: "cron-0123456789abcdef",
} as const;

export type Caller = keyof typeof secrets;

export const tokens: readonly TokenEntry[] = [
  { token: secrets.all, scopes: ["enqueue", "consume", "admin"], queues: "*" },
  { token: secrets.enqueue, scopes: ["enqueue"], queues: "*" },
  { token: secrets.consume, scopes: ["consume"], queues: "*" },
  { token: secrets.view, scopes: ["view"], queues: "*" },
  { token: secrets.admin, scopes: ["admin"], queues: "*" },
  { token: secrets.mails, scopes: ["enqueue", "consume", "admin"], queues: "mails-*" },
  // The same token twice: what it allows adds up.
  { token: secrets.mixed, scopes: ["enqueue"], queues: "in" },
  { token: secrets.mixed, scopes: ["consume"], queues: "out" },
];

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  // JSON whose fields a test reads.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly body: any;
}

export interface CallOptions {
  /** Whose token is sent; null sends none. @default "all" */
  readonly as?: Caller | null;
  /** Sent as JSON. */
  readonly json?: unknown;
  /** Sent unchanged, instead of `json`. */
  readonly raw?: BodyInit;
  readonly headers?: Record<string, string>;
}

export type Ask = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** An answer, read to its end. */
export async function read(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = /json/.test(response.headers.get("content-type") ?? "");
  const body = isJson && text ? JSON.parse(text) : text;
  return { status: response.status, headers: response.headers, body };
}

/** Makes a test's `ask` from a `fetch`. */
export function asker(fetch: (request: Request) => Response | Promise<Response>): Ask {
  return async (method, path, { as = "all", json, raw, headers = {} } = {}) => {
    const request = new Request(`http://sluice.test${path}`, {
      method,
      headers: {
        ...(as !== null && { authorization: `Bearer ${secrets[as]}` }),
        ...((json !== undefined || raw !== undefined) && { "content-type": "application/json" }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(raw !== undefined && { body: raw, duplex: "half" }),
    });
    return read(await fetch(request));
  };
}

const endpoints = defineEndpoints({ queue: "bills" });

/** The app over a real Redis: the shared one, or one of its own with those arguments. */
export async function serve(options: Partial<AppOptions> = {}, redisArgs?: readonly string[]) {
  const redis = redisArgs ? await startRedis({ args: redisArgs }) : await sharedRedis();
  const transport = resp(redis.url);
  const make = (more: Partial<AppOptions> = {}) =>
    createApp({
      operations,
      transport,
      tokens,
      cronSecret: secrets.cron,
      docs,
      deepSweep,
      flows: { ...flows, routes: flowRoutes },
      order,
      debounce,
      parts: [
        { ...topics, routes: topicRoutes },
        { ...endpoints, routes: endpointRoutes(endpoints) },
      ],
      ...options,
      ...more,
    });
  const app = make();
  return {
    app,
    redis,
    transport,
    ask: asker((request) => app.fetch(request)),
    /** Another app over the same Redis. */
    make,
    /** Asks another app over the same Redis. */
    asking(more: Partial<AppOptions>): Ask {
      const other = make(more);
      return asker((request) => other.fetch(request));
    },
    async stop() {
      await transport.close();
      await redis.stop();
    },
  };
}

/** The app for the tests of a file, over a Redis of their own. */
export function useServed(options: Partial<AppOptions> = {}) {
  let served: Awaited<ReturnType<typeof serve>>;
  beforeAll(async () => {
    served = await serve(options);
  });
  afterAll(() => served.stop());
  return {
    get app() {
      return served.app;
    },
    get redis() {
      return served.redis;
    },
    get transport() {
      return served.transport;
    },
    ask: (...args: Parameters<Ask>) => served.ask(...args),
    make: (...args: Parameters<typeof served.make>) => served.make(...args),
    asking: (more: Partial<AppOptions>) => served.asking(more),
  };
}

/** The app over a Redis of the test file's own, and its most used calls. Each test has a queue of its own. */
export function servedQueue() {
  const served = useServed();
  let count = 0;
  beforeEach(() => {
    count++;
  });

  const { ask } = served;
  const redis = () => served.redis;
  const queue = () => `q${count}`;
  const path = () => `/v1/queues/${queue()}`;
  const tasks = () => `${path()}/tasks`;
  const pull = (json?: unknown, headers = {}) => ask("POST", `${tasks()}/pull`, { json, headers });
  const command = (...words: [string, ...string[]]) => served.transport.send([words]);
  return {
    ask,
    redis,
    /** Sends a command to Redis. */
    command,
    /** Makes settings of a later release, which this one cannot read. */
    makeNewer: (name = queue()) => command("HSET", queueKeys(name).tasks, "~set", "3;p=1"),
    /** Removes the task from the list, as a failover might. */
    lose: (id: string) => command("LREM", queueKeys(queue()).pending, "0", id),
    queue,
    path,
    tasks,
    enqueue: (json: unknown, headers = {}) => ask("POST", tasks(), { json, headers }),
    pull,
    settle: (...settlements: unknown[]) => ask("POST", `${tasks()}/settle`, { json: { settlements } }),
    get: (id: string) => ask("GET", `${tasks()}/${encodeURIComponent(id)}`),
    counts: async () => (await ask("GET", path())).body,
    /** The pages of a list, each of so many entries. */
    async pages(url: string, name: string, size: number): Promise<Answer["body"][][]> {
      const all = [];
      for (let cursor: string | null = ""; cursor !== null;) {
        const from: string = cursor && `&cursor=${encodeURIComponent(cursor)}`;
        const { body } = await ask("GET", `${url}${url.includes("?") ? "&" : "?"}size=${size}${from}`);
        all.push(body[name]);
        cursor = body.cursor;
      }
      return all;
    },
    /** The receipts of a pull, which has to return at least one task. */
    async receipts(json?: unknown): Promise<[string, ...string[]]> {
      const receipts = (await pull(json)).body.tasks.map(({ receipt }: { receipt: string }) => receipt);
      expect(receipts).not.toEqual([]);
      return receipts;
    },
  };
}

/** Checks that the answer is that problem, in the documented form. */
export function expectProblem(answer: Answer, code: ProblemCode): Answer["body"] {
  const { status, title } = problems[code];
  expect(answer.body).toMatchObject({
    type: `/docs#${code}`,
    title,
    status,
    code,
    detail: expect.any(String),
  });
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/problem+json");
  expect(answer.headers.get("cache-control")).toBe("no-store");
  return answer.body;
}
