import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test, vi } from "vitest";
import { NonRetryableError, Queue, SluiceError, sweep } from "../../src/index.ts";
import { FAULTS } from "../../src/kernel/errors/faults.ts";
import { partsWithSchedules, queueKeys } from "../../src/kernel/names/keys.ts";
import { skipWaits } from "../support/skip-waits.ts";
import { textOf } from "./code.ts";
import { testCommands } from "./commands.ts";
import { minutesAgo, range, useDeployed } from "./scene.ts";

const deployed = useDeployed();
const { queue, operator, enqueueMails, raw } = deployed;
const failed = new Error("HTTP 503");

afterEach(() => void vi.restoreAllMocks());

/** Ends the attempts of all pending tasks, each ten seconds after the one before. */
async function failAll(attempts: number): Promise<void> {
  for (let left = attempts; left > 0; left--)
    for (const task of await queue("emails", { now: minutesAgo(20 + left) }).dequeue({ max: 100 }))
      await task.requeue({ error: failed, delay: "10s" });
}

async function completeAll(): Promise<void> {
  for (const task of await queue().dequeue({ max: 200 })) await task.complete();
}

testCommands("docs/operating.md", {
  run: (command) => deployed.run(command, { REDIS_URL: deployed.redis.url }),
  before: {
    Look: async () => {
      await enqueueMails(range(17, 28), { maxAttempts: 3 });
      await failAll(3);
      await enqueueMails([99]);
      const [refused] = await queue().dequeue();
      await refused?.reject(new NonRetryableError("the mail server refuses the address"));
      await enqueueMails(range(30, 32), {}, minutesAgo(22));
      await queue("reports").enqueue({ report: 7 });
      await operator("reports").pause();
    },
    "Does cron sweep?": () => enqueueMails([40], { delay: "1m" }, minutesAgo(20)),
    "Does a dead consumer hold the tasks?": async () => {
      await enqueueMails(range(33, 35));
      const worker = { name: "mailer-1", node: "fra-1" };
      await queue("emails", { now: minutesAgo(43) }).dequeue({ max: 1, lease: "1h", worker });
      await queue().dequeue();
    },
    "The queue grows": async () => {
      await completeAll();
      await raw("FLUSHALL");
      await enqueueMails([17], {}, minutesAgo(22));
    },
    "Tasks come again": async () => {
      const reports = (minutes: number) => queue("reports", { now: minutesAgo(minutes) });
      await reports(20).enqueue({ report: 7 }, { id: "report-7", lease: "1m" });
      await reports(20).dequeue();
      await reports(18).dequeue();
      const [task] = await reports(16).dequeue();
      await task?.requeue({ error: failed, delay: "30m" });
    },
    "A schedule does not occur": async () => {
      await deployed.schedules("reports", minutesAgo(130)).put("hourly", { cron: "0 * * * *", payload: 1 });
      await deployed.schedules("reports").put("daily", { cron: "0 6 * * *", payload: 1 });
      await deployed.schedules("reports").pause("daily");
      await sweep(deployed.transport());
    },
    "The queue has its maxPending": async () => {
      await raw("FLUSHALL");
      await operator().configure({ maxPending: 3 });
      await enqueueMails(range(17, 19));
    },
    "Redis has no memory left": async () => {
      await raw("FLUSHALL");
      const payload = new Uint8Array(2_000);
      const add = (count: number) =>
        queue().enqueueMany(range(1, count).map(() => ({ payload, maxAttempts: 1 })));
      await add(200);
      await completeAll();
      await add(60);
      await failAll(1);
      const [, used = ""] = /used_memory:(\d+)/.exec(String(await raw("INFO", "memory"))) ?? [];
      await raw("CONFIG", "SET", "maxmemory", used);
      await expect(queue().enqueue(payload)).rejects.toMatchObject({ code: "queue_full" });
    },
    "A queue has reached 100 MB on Upstash": async () => {
      await raw("CONFIG", "SET", "maxmemory", "0");
      await raw("FLUSHALL");
      await enqueueMails([17]);
      // In fields as large as payloads may be: a script that reads them as one value blocks Redis for seconds.
      const grow = `local value = string.rep('x', 1000000)
        for i = 1, 101 do redis.call('HSET', KEYS[1], 'x' .. i, value) end`;
      await raw("EVAL", grow, "1", queueKeys("emails").tasks);
    },
    "Redis does not answer": () => {
      skipWaits();
      const send = () =>
        Promise.reject(new SluiceError("redis_unreachable", "Redis could not be reached in time"));
      deployed.deploy({ transport: { send } });
    },
    "Redis lost data": async () => {
      deployed.deploy({});
      await raw("FLUSHALL");
      await enqueueMails(range(17, 22));
      await raw("DEL", queueKeys("emails").pending);
      const lines = range(22, 25).map((n) =>
        JSON.stringify({ id: `welcome-${n}`, payload: { to: `${n}@example.com` } }),
      );
      writeFileSync(join(deployed.shell.folder, "sent-since-two.jsonl"), lines.join("\n"));
    },
  },
  after: {
    "sluice redrive emails welcome-17": completeAll,
    "sluice settings emails statistics=on": () => enqueueMails([36], { group: "tenant-7" }, minutesAgo(2)),
  },
});

testCommands("lua/partitions.md", {
  run: (command) => deployed.run(command, { REDIS_URL: deployed.redis.url }),
  before: {
    "When Redis has lost the markers": async () => {
      await raw("FLUSHALL");
      // A program that knows of the partitions, and one that does not.
      const events = (partitions?: number) =>
        new Queue("events", { transport: deployed.transport(), partitions });
      await events(2).enqueue({ event: 1 }, { id: "event-1" });
      await events(2).enqueue({ event: 2 });
      for (const part of partsWithSchedules) await raw("DEL", queueKeys("events")[part]);
      await events().enqueue({ event: 1 }, { id: "event-1" });
      await events().enqueue({ event: 3 }, { id: "event-3" });
    },
  },
});

test("the table of faults has each fault that a deep sweep finds", () => {
  const [, table = ""] = /\| fault \|[^\n]*\n\|[-|]+\n((?:\|.*\n)+)/.exec(textOf("docs/operating.md")) ?? [];
  const named = table
    .split("\n")
    .flatMap((row) => Array.from((row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)));
  expect(new Set(named.map(([, fault = ""]) => fault))).toEqual(new Set(FAULTS));
});
