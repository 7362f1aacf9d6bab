import { once } from "node:events";
import type { AddressInfo } from "node:net";
import process from "node:process";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, vi } from "vitest";
import { type AppOptions, createApp } from "../../src/http/app.ts";
import { Operator, Queue, Schedules, type Transport } from "../../src/index.ts";
import { EmbeddedDatabase, type Gateway, startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { Terminal } from "./terminal.ts";

/** The queues in which the commands of a page are run: a deployment, and a database whose clock the test moves. */
export interface Night {
  readonly terminal: Terminal;
  readonly database: EmbeddedDatabase;
  /** The Upstash REST protocol in front of it, which counts commands. */
  readonly gateway: Gateway;
  /** The variables with which `sluice` and curl reach the deployment. */
  readonly env: Readonly<Record<string, string>>;
  /** Deploys anew: with other options, or without, as at first. */
  deploy(options?: Partial<AppOptions>): void;
  /** Sets the clock of the database and of `sluice` to a time of this night, such as `01:40:00`. */
  at(time: string): void;
  /** Lets the clocks be right again, for situations with a real Redis. */
  byDay(): void;
  /** A new transport, without memory of which queues are registered and with what settings. */
  transport(): Transport;
  queue(name?: string): Queue;
  operator(name?: string): Operator;
  schedules(name?: string): Schedules;
  /** Enqueues mails with the ids `welcome-<number>`. */
  enqueueMails(numbers: readonly number[], options?: object): Promise<void>;
  /** Works on all pending tasks, in vain. */
  failAll(error: unknown, delay: string): Promise<void>;
  /** Works on all pending tasks. */
  completeAll(name?: string): Promise<void>;
}

/** Registers a night with vitest. Local time is UTC. */
export function useNight(): Night {
  process.env["TZ"] = "UTC";
  const night = { database: new EmbeddedDatabase({ now: () => Date.now() }) } as {
    -readonly [Name in keyof Night]: Night[Name];
  };
  const secrets = { SLUICE_TOKEN: "the-token-of-the-person", CRON_SECRET: "the-secret-of-the-cron" };
  let deployed: Partial<AppOptions> = {};
  night.deploy = (options = {}) => (deployed = options);
  // As in functions, no instance remembers which queues are registered.
  const fetch = (request: Request) =>
    createApp({
      transport: night.transport(),
      tokens: [{ token: secrets.SLUICE_TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" }],
      cronSecret: secrets.CRON_SECRET,
      onError: () => {},
      ...deployed,
    }).fetch(request);
  let server: ReturnType<typeof serve>;
  night.transport = () => {
    // Queues of a database that has no name are remembered by the transport, so not here.
    const { database: _, ...transport } = upstash(night.gateway);
    return transport;
  };
  const own = () => ({ transport: night.transport() });
  night.at = (time) => {
    vi.useFakeTimers({ toFake: ["Date"], now: new Date(`2026-11-23T${time}Z`) });
  };
  night.byDay = () => void vi.useRealTimers();
  night.queue = (name = "emails") => new Queue(name, own());
  night.operator = (name = "emails") => new Operator(name, own());
  night.schedules = (name = "emails") => new Schedules(name, own());
  night.enqueueMails = async (numbers, options = {}) => {
    const task = (n: number) => ({ payload: { to: `${n}@example.com` }, id: `welcome-${n}`, ...options });
    await night.queue().enqueueMany(numbers.map(task));
  };
  night.failAll = async (error, delay) => {
    for (const task of await night.queue().dequeue({ max: 100 }))
      await task.requeue({ error, delay: delay as "1s" });
  };
  night.completeAll = async (name) => {
    for (const task of await night.queue(name).dequeue({ max: 100 })) await task.complete();
  };
  beforeAll(async () => {
    night.gateway = await startGateway({ database: night.database });
    server = serve({ fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    night.env = { SLUICE_URL: url, ...secrets };
    night.terminal = await Terminal.open({ [url]: "https://queue.example.com" });
  });
  afterAll(async () => {
    vi.useRealTimers();
    await night.terminal.close();
    server.close();
    await night.gateway.close();
  });
  return night;
}
