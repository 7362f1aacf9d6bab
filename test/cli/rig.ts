import { afterAll, beforeAll, beforeEach, vi } from "vitest";
import { sluice } from "../../serverless/cloudflare.ts";
import { PendingWork } from "../../src/deploy/pending-work.ts";
import { listen } from "../../src/deploy/process/node-listener.ts";
import { Operator, Queue, type QueueOptions, Schedules } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import type { Command, Transport } from "../../src/kernel/transport.ts";
import { endpoints } from "../../src/http/endpoints/index.ts";
import { flows } from "../../src/http/flows/index.ts";
import { topics } from "../../src/http/topics/index.ts";
import { operations } from "../../src/http/operations/index.ts";
import { order } from "../../src/open/order/index.ts";
import { debounce } from "../../src/features/debounce/index.ts";
import { deepSweep } from "../../src/open/deep-sweep/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { type Ended, type Invocation, runHere } from "./run-here.ts";

/** A token of the deployment with every scope. */
export const TOKEN = "all-0123456789abcdef";
/** A token of the deployment that only enqueues, to queues that begin with `emails`. */
export const ENQUEUE_TOKEN = "enqueue-0123456789abcdef";

/** A token of the deployment that may look at everything except payloads. */
export const HIDING_TOKEN = "hiding-0123456789abcdef";

/** What the commands talk to: the HTTP interface in their own process, or a deployment. */
export const targets = ["the database", "a deployment"] as const;
export type Target = (typeof targets)[number];

export interface Commands {
  run(args: readonly string[], how?: Invocation): Promise<Ended>;
  /** The output goes to a pipe. */
  sluice(...args: string[]): Promise<Ended>;
  /** The standard input is a pipe, too. */
  piping(stdin: string, ...args: string[]): Promise<Ended>;
  onTerminal(...args: string[]): Promise<Ended>;
}

export interface DieOptions {
  readonly queue?: string;
  /** How many attempts fail. @default 1 */
  readonly attempts?: number;
  readonly payload?: unknown;
  readonly group?: string;
  /** True: the consumer rejects the task for good. */
  readonly rejected?: boolean;
}

/** A request, such as `GET /v1/queues`, with its body or query, if it has one. */
export type Called = readonly [request: string, given?: object];

/** The commands of the rig itself are run against the deployment. */
export interface CliRig extends Commands {
  readonly redis: TestRedis;
  readonly gateway: Gateway;
  readonly url: string;
  // oxlint-disable-next-line typescript/no-explicit-any
  queue(name?: string, options?: Partial<QueueOptions>): Queue<any>;
  operator(name?: string): Operator;
  schedules(options?: Partial<QueueOptions>): Schedules;
  raw(...commands: readonly Command[]): Promise<unknown>;
  /** Makes dead letters of new tasks, by attempts that fail. */
  die(ids: string | readonly string[], error?: unknown, options?: DieOptions): Promise<void>;
  /** Runs a command line, split at its spaces, and returns its requests to the deployment. */
  calling(line: string): Promise<readonly Called[]>;
  to(target: Target): Commands;
  environmentOf(target: Target): Record<string, string>;
}

type Deployment = Pick<CliRig, "redis" | "gateway" | "url">;

/** The files of a process use one after the other what the first has started. It ends with the process. */
let deployment: Promise<Deployment> | undefined;

async function deploy(): Promise<Deployment> {
  const redis = await startRedis();
  const gateway = await startGateway({ redisUrl: redis.url });
  const tokens = [
    { token: TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" },
    { token: ENQUEUE_TOKEN, scopes: ["enqueue"], queues: "emails*" },
    { token: HIDING_TOKEN, scopes: ["view"], queues: "*", payloads: "hidden" },
  ];
  const env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify(tokens),
  };
  const worker = sluice({ deepSweep, operations, order, debounce, flows, topics, endpoints });
  const work = new PendingWork();
  const answer = (request: Request) => worker.fetch(request, env, { waitUntil: work.add });
  const { port } = await listen(answer, { port: 0, hostname: "127.0.0.1" });
  return { redis, gateway, url: `http://127.0.0.1:${port}` };
}

/** A Redis behind the gateway, and the Worker that the project ships, in this process. Redis is emptied before each test. */
export function useCli(): CliRig {
  const rig = {} as { -readonly [Name in keyof CliRig]: CliRig[Name] };
  let transport: ReturnType<typeof resp>;
  beforeAll(async () => {
    Object.assign(rig, await (deployment ??= deploy()));
    transport = resp(rig.redis.url);
  });
  beforeEach(async () => {
    rig.gateway.faults.clear();
    await transport.send([["FLUSHALL"]]);
  });
  afterAll(() => transport.close());
  // A new transport each time, because it remembers which queues are registered.
  const own = (): Transport => ({ send: transport.send.bind(transport) });
  rig.queue = (name = "emails", options = {}) => new Queue(name, { transport: own(), ...options });
  rig.operator = (name = "emails") => new Operator(name, { transport: own() });
  rig.schedules = (options = {}) => new Schedules("emails", { transport: own(), ...options });
  rig.raw = (...commands) => transport.send(commands);
  rig.die = async (
    ids,
    error = "no",
    { queue = "emails", attempts = 1, payload = 1, group, rejected } = {},
  ) => {
    const from = rig.queue(queue);
    const all = [ids].flat();
    await from.enqueueMany(all.map((id) => ({ payload, id, maxAttempts: attempts, group })));
    for (let attempt = 1; attempt <= attempts; attempt++)
      for (const task of await from.dequeue({ max: all.length }))
        await (rejected ? task.reject({ error }) : task.requeue({ error }));
  };
  rig.environmentOf = (target) =>
    target === "the database"
      ? { UPSTASH_REDIS_REST_URL: rig.gateway.url, UPSTASH_REDIS_REST_TOKEN: rig.gateway.token }
      : { SLUICE_URL: rig.url, SLUICE_TOKEN: TOKEN };
  rig.to = (target) => {
    const run: Commands["run"] = (args, how = {}) =>
      runHere(args, { ...rig.environmentOf(target), ...how.env }, how);
    return {
      run,
      sluice: (...args) => run(args),
      piping: (stdin, ...args) => run(args, { stdin }),
      onTerminal: (...args) => run(args, { terminal: true }),
    };
  };
  rig.calling = async (line) => {
    const calls: Called[] = [];
    const { fetch } = globalThis;
    const noting = vi.spyOn(globalThis, "fetch").mockImplementation((input, init) => {
      const { origin, pathname, searchParams } = new URL(input as string);
      const body = init?.body as string | undefined;
      const given = body ? (JSON.parse(body) as object) : Object.fromEntries(searchParams);
      const request = `${init?.method} ${pathname}`;
      if (origin === rig.url) calls.push(body || searchParams.size > 0 ? [request, given] : [request]);
      return fetch(input, init);
    });
    await rig.run(line.split(" "));
    noting.mockRestore();
    return calls;
  };
  return Object.assign(rig, rig.to("a deployment"));
}

/** Runs a command against a server that answers all requests so. */
export async function against(
  answer: (url: string, init: RequestInit) => Response | Promise<Response>,
  args: readonly string[] = ["queues"],
  how: Invocation = {},
): Promise<Ended> {
  const fetch = vi
    .spyOn(globalThis, "fetch")
    .mockImplementation(async (url, init = {}) => answer(url as string, init));
  try {
    return await runHere(args, { SLUICE_URL: "https://sluice.test", SLUICE_TOKEN: TOKEN }, how);
  } finally {
    fetch.mockRestore();
  }
}
