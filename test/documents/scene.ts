import { operations } from "../../src/http/operations/index.ts";
import { order } from "../../src/open/order/index.ts";
import { topics } from "../../src/http/topics/index.ts";
import { debounce } from "../../src/features/debounce/index.ts";
import { afterAll, beforeAll } from "vitest";
import { listen } from "../../src/deploy/process/node-listener.ts";
import { type AppOptions, createApp } from "../../src/http/index.ts";
import { docs } from "../../src/http/docs/index.ts";
import { deepSweep } from "../../src/open/deep-sweep/index.ts";
import { Operator, Queue, type QueueOptions, Schedules, type Transport } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { type SharedRedis, sharedRedis } from "../support/shared-redis.ts";
import { type Ran, Shell } from "./shell.ts";

/** Where the commands of a page are run: a deployment, a Redis, and a shell with the variables of both. */
export interface Deployed {
  readonly shell: Shell;
  readonly redis: SharedRedis;
  /** In front of Redis. */
  readonly gateway: Gateway;
  /** The variables of the deployment. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs a command. `$RECEIPT` is the last receipt that a command has printed. */
  run(command: string, more?: Readonly<Record<string, string>>): Promise<Ran>;
  /** Deploys anew with other options. */
  deploy(options: Partial<AppOptions>): void;
  raw(...command: readonly [string, ...string[]]): Promise<unknown>;
  transport(): Transport;
  // oxlint-disable-next-line typescript/no-explicit-any
  queue(name?: string, options?: Partial<QueueOptions>): Queue<any>;
  operator(name?: string): Operator;
  schedules(name: string, now?: () => number): Schedules;
  /** Enqueues mails with the ids `welcome-<number>`. */
  enqueueMails(numbers: readonly number[], options?: object, now?: () => number): Promise<unknown>;
}

export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
export const minutesAgo = (minutes: number) => () => Date.now() - minutes * 60_000;

/** Registers the deployment with vitest. */
export function useDeployed(): Deployed {
  const own = {} as { -readonly [Name in keyof Deployed]: Deployed[Name] };
  let deployed: Partial<AppOptions> = {};
  let receipt = "";
  let stop: () => unknown;
  const secrets = {
    SLUICE_TOKEN: "the-token-of-the-person",
    VIEW_TOKEN: "the-token-that-hides-payloads",
    CRON_SECRET: "the-secret-of-the-cron",
  };
  // As in functions, no instance remembers which queues are registered.
  const fetch = async (request: Request) =>
    createApp({
      operations,
      transport: own.transport(),
      tokens: [
        { token: secrets.SLUICE_TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" },
        { token: secrets.VIEW_TOKEN, scopes: ["view"], queues: "*", payloads: "hidden" },
      ],
      cronSecret: secrets.CRON_SECRET,
      onError: () => {},
      docs,
      deepSweep,
      order,
      debounce,
      parts: [topics],
      ...deployed,
    }).fetch(request);
  own.deploy = (options) => (deployed = options);
  own.transport = () => {
    const { database: _, ...transport } = upstash(own.gateway);
    return transport;
  };
  let direct: ReturnType<typeof resp>;
  own.raw = async (...command) => {
    const [outcome] = await direct.send([command]);
    if (!outcome || !("reply" in outcome)) throw new Error(JSON.stringify(outcome));
    return outcome.reply;
  };
  own.queue = (name = "emails", options = {}) => new Queue(name, { transport: own.transport(), ...options });
  own.operator = (name = "emails") => new Operator(name, { transport: own.transport() });
  own.schedules = (name, now) => new Schedules(name, { transport: own.transport(), now });
  own.enqueueMails = (numbers, options = {}, now = Date.now) => {
    const task = (n: number) => ({ payload: { to: `${n}@example.com` }, id: `welcome-${n}`, ...options });
    return own.queue("emails", { now }).enqueueMany(numbers.map(task));
  };
  own.run = async (command, more = {}) => {
    const ran = await own.shell.run(command, { ...own.env, ...more, RECEIPT: receipt });
    receipt = ran.screen.match(/\b\d+\.\d+\.\d+\.[\w-]{16,}\.[^\s"]+/g)?.at(-1) ?? receipt;
    return ran;
  };
  beforeAll(async () => {
    own.redis = await sharedRedis();
    direct = resp(own.redis.url);
    own.gateway = await startGateway({ redisUrl: own.redis.url });
    const server = await listen(fetch, { port: 0, hostname: "127.0.0.1" });
    stop = () => server.stop();
    own.env = { SLUICE_URL: `http://127.0.0.1:${server.port}`, ...secrets };
    own.shell = await Shell.open();
  });
  afterAll(async () => {
    own.shell.close();
    await stop();
    await own.gateway.close();
    await direct.close();
    await own.redis.stop();
  });
  return own;
}
