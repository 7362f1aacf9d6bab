import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { NonRetryableError, Queue, sweep } from "../../src/index.ts";
import { FAULTS } from "../../src/queue/core/faults.ts";
import { partsWithSchedules, queueKeys } from "../../src/queue/core/keys.ts";
import { resp } from "../../src/transport/resp.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { useNight } from "./night.ts";
import { runbookTests, type Scene } from "./scenes.ts";

// To write the page anew: npx vitest run test/documents/operating.test.ts -u

const night = useNight();
const { at, queue, operator, schedules, enqueueMails, failAll, completeAll } = night;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);

/** The mail server is down, and refuses one address. */
async function mailsDie(numbers: readonly number[]): Promise<void> {
  at("01:40:00");
  await enqueueMails(numbers, { maxAttempts: 3 });
  await queue().enqueue({ to: "missing@" }, { id: "welcome-99", priority: 9 });
  at("01:40:02");
  const [refused] = await queue().dequeue();
  await refused?.reject(new NonRetryableError("the mail server refuses the address"));
  for (const [time, delay] of [
    ["01:40:02", "10s"],
    ["01:40:12", "30s"],
    ["01:40:42", "90s"],
  ] as const) {
    at(time);
    await failAll(new Error("HTTP 503"), delay);
  }
  at("02:14:05");
}

/** What the doctor says in each situation: the page has it once. */
const leavesOut =
  /^Checking |^[?✓] (?:token|Redis|version|eviction|memory|durability|clock)|^[?] emails: |^ +→ (?:on Upstash|sluice sweep --deep)/;

let redis: TestRedis;
let transport: ReturnType<typeof resp>;

/** A situation with a Redis of its own, by day. */
function onRedis(args: readonly string[], begin: (emails: Queue) => Promise<void>): Scene {
  return {
    begin: async () => {
      night.byDay();
      redis = await startRedis({ args: ["--appendonly", "yes", ...args] });
      transport = resp(redis.url);
      night.deploy({ transport });
      await begin(new Queue("emails", { transport }));
    },
    leavesOut,
    end: async () => {
      await transport.close();
      await redis.stop();
    },
  };
}

const scenes: Readonly<Record<string, Scene>> = {
  Look: {
    begin: async () => {
      await mailsDie(range(17, 28));
      at("01:52:00");
      await enqueueMails([30, 31, 32]);
      await queue("reports").enqueue({ report: 7 });
      await operator("reports").pause();
      at("02:14:05");
    },
  },
  "Dead letters": {
    begin: () => mailsDie(range(17, 28)),
    after: {
      "sluice redrive emails welcome-17": async () => {
        at("02:14:09");
        await completeAll();
        at("02:14:20");
      },
      "sluice redrive emails --text 503 --rate": async () => {
        at("02:15:05");
        await completeAll();
      },
    },
  },
  "Is the queue paused?": {
    begin: async () => {
      at("02:01:00");
      await enqueueMails([17, 18, 19]);
      await operator().pause();
      at("02:14:05");
    },
  },
  "Does cron sweep?": {
    begin: async () => {
      at("01:55:00");
      await enqueueMails([17, 18]);
      await enqueueMails([19, 20, 21], { delay: "7m" });
      await queue().dequeue({ max: 2 });
      at("02:14:05");
    },
    leavesOut,
  },
  "Does a limit hold the tasks back?": {
    begin: async () => {
      await operator().configure({ maxWorking: 2 });
      await operator().configureGroup("tenant-7", { maxWorking: 1 });
      at("02:03:00");
      await enqueueMails([17, 18], { lease: "1h" });
      await enqueueMails([19, 20, 21], { group: "tenant-7", lease: "1h" });
      await queue().dequeue({ max: 2 });
      at("02:14:05");
    },
  },
  "Does a dead consumer hold the tasks?": {
    begin: async () => {
      at("01:31:00");
      await enqueueMails([17, 18, 19], { lease: "1h" });
      await queue().dequeue({ max: 2, worker: { name: "mailer-1", node: "fra-1" } });
      at("02:02:00");
      await queue().dequeue();
      at("02:14:05");
    },
  },
  "Is there a consumer at all?": {
    leavesOut,
    begin: async () => {
      at("01:52:00");
      await enqueueMails([17, 18, 19]);
      at("02:14:05");
    },
  },
  "The queue grows": {
    begin: async () => {
      at("02:07:00");
      await enqueueMails([17]);
      const [task] = await queue().dequeue();
      await task?.complete();
    },
    after: {
      "sluice settings emails statistics=on": async () => {
        for (let minute = 8; minute < 14; minute++) {
          at(`02:${String(minute).padStart(2, "0")}:10`);
          await enqueueMails(range(minute * 100, minute * 100 + 39), { group: "tenant-7" });
          for (const [i, task] of (await queue().dequeue({ max: 12 })).entries())
            await (i < 10 ? task.complete() : task.requeue({ error: new Error("HTTP 503"), delay: "10m" }));
        }
        at("02:14:05");
      },
    },
  },
  "Tasks come again": {
    begin: async () => {
      at("02:00:00");
      await queue("reports").enqueue({ report: 7 }, { id: "report-7", lease: "1m" });
      for (const time of ["02:00:00", "02:02:00"]) {
        at(time);
        await sweep(night.transport());
        await queue("reports").dequeue();
      }
      at("02:04:00");
      await sweep(night.transport());
      const [task] = await queue("reports").dequeue();
      await task?.requeue({ error: new Error("no space left on device"), delay: "30m" });
      at("02:14:05");
    },
  },
  "A schedule does not occur": {
    begin: async () => {
      at("00:30:00");
      await schedules("reports").put("hourly", { cron: "0 * * * *", payload: { report: "hourly" } });
      await schedules("reports").put("daily", { cron: "0 6 * * *", payload: { report: "daily" } });
      await schedules("reports").pause("daily");
      at("01:00:04");
      await sweep(night.transport());
      at("02:14:05");
    },
  },
  "The queue has its maxPending": {
    begin: async () => {
      await operator().configure({ maxPending: 3 });
      await enqueueMails([17, 18, 19]);
    },
  },
  "Redis has no memory left": onRedis(["--maxmemory", "16mb"], async (emails) => {
    const bytes = "x".repeat(50_000);
    const fill = async (count: number, settle: "complete" | "reject") => {
      await emails.enqueueMany(Array.from({ length: count }, () => ({ payload: bytes })));
      for (const task of await emails.dequeue({ max: count })) await task[settle](bytes.slice(0, 16_000));
    };
    await fill(60, "reject");
    for (let i = 0; i < 4; i++) await fill(50, "complete");
    const isFull = () =>
      emails.enqueue(bytes).then(
        () => false,
        () => true,
      );
    while (!(await isFull()));
    while (
      !(await emails.enqueue({ to: "a@example.com" }).then(
        () => false,
        () => true,
      ))
    );
  }),
  "A queue has reached 100 MB on Upstash": onRedis([], async (emails) => {
    const payload = "x".repeat(1_000_000);
    for (let i = 0; i < 12; i++) await emails.enqueueMany(range(1, 8).map(() => ({ payload })));
  }),
  "Redis does not answer": onRedis([], async () => redis.kill()),
  "Redis lost data": {
    begin: async () => {
      at("02:00:00");
      const pending = "sluice:{emails}:pending";
      await enqueueMails(range(17, 22));
      // Of this key a replica has an older state than of the others.
      night.database.call("COPY", pending, "old");
      const [first] = await queue().dequeue({ max: 2 });
      await first?.complete();
      await enqueueMails([23]);
      night.database.call("RENAME", "old", pending);
      const lines = range(22, 25).map((n) =>
        JSON.stringify({ id: `welcome-${n}`, payload: { to: `${n}@example.com` } }),
      );
      writeFileSync(join(night.terminal.folder, "sent-since-two.jsonl"), lines.join("\n"));
      at("02:14:05");
    },
  },
  "A sweep reports unexpected_reply": {
    ...onRedis([], async () => {
      // A program that knows of the partitions, and one that does not.
      const events = (partitions?: number) => {
        const { database: _, ...own } = transport;
        return new Queue("events", { transport: own, partitions });
      };
      await events(2).enqueue({ event: 1 }, { id: "event-1" });
      await events(2).enqueue({ event: 2 });
      await transport.send(partsWithSchedules.map((part) => ["DEL", queueKeys("events")[part]]));
      await events().enqueue({ event: 1 }, { id: "event-1" });
      await events().enqueue({ event: 3 }, { id: "event-3" });
    }),
    env: () => ({ ...night.env, REDIS_URL: redis.url }),
  },
};

const file = fileURLToPath(new URL("../../docs/operating.md", import.meta.url));
runbookTests(file, night, scenes);

test("the table of faults has each fault that a deep sweep finds", () => {
  const [, table = ""] = /\| fault \|[^\n]*\n\|[-|]+\n((?:\|.*\n)+)/.exec(readFileSync(file, "utf8")) ?? [];
  const named = table
    .split("\n")
    .flatMap((row) => Array.from((row.split("|")[1] ?? "").matchAll(/`(\w+)`/g)));
  expect(named.map(([, fault = ""]) => fault).toSorted()).toEqual(FAULTS.toSorted());
});
