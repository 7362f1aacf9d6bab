import process from "node:process";
import { afterAll, beforeAll, vi } from "vitest";
import { Operator, Queue, Schedules, type Transport } from "../../src/index.ts";
import { EmbeddedDatabase, type Gateway, startGateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { Terminal } from "./terminal.ts";

/** The queues in which the commands of a page are run: a database of this process, whose clock the test moves. */
export interface Night {
  readonly terminal: Terminal;
  readonly database: EmbeddedDatabase;
  /** The Upstash REST protocol in front of it, which counts commands. */
  readonly gateway: Gateway;
  /** The variables with which `sluice` reaches the database. */
  readonly env: Readonly<Record<string, string>>;
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
    const { url, token } = night.gateway;
    night.env = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
    night.terminal = await Terminal.open();
  });
  afterAll(async () => {
    vi.useRealTimers();
    await night.terminal.close();
    await night.gateway.close();
  });
  return night;
}
