import { afterEach, beforeEach, expect, vi } from "vitest";
import { serve, type ServeOptions, type Server } from "../../serverless/node.ts";
import { Operator, Queue, type Task } from "../../src/index.ts";
import { useOwnRedis } from "../support/own-redis.ts";

/**
 * Servers beside each other, on a Redis of the test file's own. Their cron runs at the start, and not again during a
 * test: what starts, was woken.
 */
export function useServers() {
  const redis = useOwnRedis();
  let servers: Server[];
  beforeEach(async () => {
    servers = [];
    await command("FLUSHALL");
    await command("CONFIG", "RESETSTAT");
    vi.spyOn(console, "info").mockImplementation(() => {});
    vi.spyOn(console, "error").mockImplementation(() => {});
  });
  afterEach(async () => {
    await Promise.all(servers.map((server) => server.close()));
    vi.restoreAllMocks();
  });

  async function command(...words: [string, ...string[]]) {
    const [outcome] = await redis.transport.send([words]);
    return outcome && "reply" in outcome ? outcome.reply : outcome;
  }

  /** Waits until so many servers listen. */
  const listeners = (count: number, channel = "sluice:wakes") =>
    expect.poll(() => command("PUBSUB", "NUMSUB", channel)).toEqual([channel, count]);

  async function publishes(): Promise<number> {
    const stats = await command("INFO", "commandstats");
    return Number(/^cmdstat_publish:calls=(\d+)/m.exec(stats as string)?.[1] ?? 0);
  }

  async function start(options: ServeOptions = {}, env: Record<string, string> = {}): Promise<Server> {
    const server = await serve({
      env: { REDIS_URL: redis.url, ...env },
      port: 0,
      hostname: "127.0.0.1",
      signals: false,
      every: "1d",
      ...options,
    });
    servers.push(server);
    return server;
  }

  const state = async () => {
    const { pending, working } = await new Queue("work", { transport: redis.transport }).counts();
    const { tasks } = await new Operator("work", { transport: redis.transport }).list({ state: "completed" });
    return { pending, working, completed: tasks.length };
  };

  return { redis, command, listeners, publishes, start, state };
}

/** Enqueues so many tasks by any request. */
export const enqueues: ServeOptions["fetch"] = async (request, { queue }) => {
  const payloads = Array.from(
    { length: Number(new URL(request.url).searchParams.get("tasks")) },
    (_, i) => i,
  );
  return Response.json(await queue("work").enqueueMany(payloads.map((payload) => ({ payload }))));
};

export const enqueue = async ({ url }: Server, tasks = 1) => {
  await (await fetch(`${url}/enqueue?tasks=${tasks}`)).json();
};

/** Handlers that end together: which server has begun which tasks, and what ends them. */
export function gate() {
  const begun: string[] = [];
  let open = () => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  const handler = (server: string) => async (task: Pick<Task, "id">) => {
    begun.push(server);
    await opened;
    return task.id;
  };
  return { begun, open: () => open(), handler };
}
