import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createClient } from "@redis/client";
import { expect, test } from "vitest";
import type { TokenEntry } from "../../src/http/auth/tokens.ts";
import { Queue } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { useNight } from "./night.ts";
import { runbookTests, type Scene } from "./scenes.ts";

// To write the page anew: npx vitest run test/documents/prepare.test.ts -u

const night = useNight();
const { at, queue, enqueueMails } = night;
const textOf = (file: string) =>
  readFileSync(fileURLToPath(new URL(`../../${file}`, import.meta.url)), "utf8");
const page = textOf("docs/operating/prepare.md");
const inFolder = (name: string) => join(night.terminal.folder, name);

const OLD_TOKEN = "the-old-token-of-a-caller";
let newToken = "";
const entry = { scopes: ["enqueue" as const], queues: "emails*" };
const old = { ...entry, token: OLD_TOKEN };

let redis: TestRedis;

/** The password of the user with the fewest rights, as SECURITY.md makes it. */
async function addUser(): Promise<void> {
  const [, command = ""] = /^(ACL SETUSER sluice .*)$/m.exec(textOf("SECURITY.md")) ?? [];
  const client = await createClient({ url: redis.url }).connect();
  await client.sendCommand(command.split(" "));
  await client.close();
}

const scenes: Readonly<Record<string, Scene>> = {
  Alerts: {
    begin: async () => {
      const [, code = ""] = /```js\n([\s\S]*?)```/.exec(page) ?? [];
      writeFileSync(inFolder("alerts.mjs"), code);
      at("01:40:00");
      await enqueueMails(
        Array.from({ length: 13 }, (_, i) => 17 + i),
        { maxAttempts: 1 },
      );
      await night.failAll(new Error("HTTP 503"), "10s");
      at("01:52:00");
      await queue("reports").enqueue({ report: 7 });
      at("02:14:05");
    },
  },
  Redis: {
    begin: async () => {
      night.byDay();
      redis = await startRedis({ args: ["--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"] });
      const transport = resp(redis.url);
      await new Queue("emails", { transport }).enqueue(1);
      await transport.close();
      await addUser();
    },
    env: () => ({
      REDIS_URL: redis.url,
      URL_OF_SLUICE_USER: redis.url.replace("redis://", "redis://sluice:PASSWORD@"),
    }),
    end: () => redis.stop(),
  },
  Tokens: {
    begin: () => night.deploy({ tokens: [old] }),
    env: () => ({ ...night.env, NEW_TOKEN: newToken, OLD_TOKEN }),
    after: {
      "sluice token": (screen) => {
        newToken = /SLUICE_TOKEN=(\S+)/.exec(screen)?.[1] ?? "";
        const [, made = "[]"] = /SLUICE_TOKENS='(.*)'/.exec(screen) ?? [];
        night.deploy({ tokens: [old, ...(JSON.parse(made) as TokenEntry[])] });
      },
      'SLUICE_TOKEN="$NEW_TOKEN"': () => night.deploy({ tokens: [{ ...entry, token: newToken }] }),
    },
  },
  Upgrade: {
    begin: async () => {
      await enqueueMails([17, 18]);
      night.database.call("HSET", "sluice:{emails}:tasks", "welcome-17", "2;x=y\nunknown");
    },
  },
  "A copy of the tasks": { begin: () => enqueueMails([17, 18, 19]) },
};

runbookTests(fileURLToPath(new URL("../../docs/operating/prepare.md", import.meta.url)), night, scenes);

test("the lines of the crontab are the commands whose output the page shows", () => {
  const [, crontab = ""] = /```crontab\n([\s\S]*?)```/.exec(page) ?? [];
  const jobs = Array.from(crontab.matchAll(/^\*\/5 \* \* \* \* {2}(.*)$/gm), ([, job]) => job);
  expect(jobs).toHaveLength(2);
  expect(jobs.filter((job) => !page.includes(`\n$ ${job}\n`))).toEqual([]);
});

test("the bytes of a task are those of the benchmarks", () => {
  const rowsOf = (text: string) =>
    Array.from(text.matchAll(/^\| (pending|delayed|working|completed, [a-z ]+?)(?::[^|]*)? \| (.*) \|$/gm));
  const [, chapter = ""] = /\n## Memory\n([\s\S]*?)\n## /.exec(textOf("docs/benchmarks.md")) ?? [];
  const measured = rowsOf(chapter).map(([, state, cells = ""]) => {
    const bytes = cells.split(" | ").map(Number);
    return `${state}: ${Math.min(...bytes)} to ${Math.max(...bytes)}`;
  });
  expect(measured).toHaveLength(5);
  const shown = rowsOf(page).map(([, state, cells = ""]) => `${state}: ${cells.split(" | ")[0]}`);
  expect(shown).toEqual(measured);
});

test("the sums of commands are right", () => {
  const rows = Array.from(page.matchAll(/^\| (.*): ([\d.]+)(?: each.*?)? \| ([\d,]+) \| ([\d.]+) \|$/gm));
  expect(rows).toHaveLength(5);
  for (const [, what = "", each, commands = "", dollars] of rows) {
    const times = what.startsWith("100,000") ? 100_000 : what.includes("second") ? 86_400 * 30 : 1_440 * 30;
    const sum = Number(commands.replaceAll(",", ""));
    expect([what, sum]).toEqual([what, times * Number(each)]);
    expect([what, dollars]).toEqual([what, ((sum / 100_000) * 0.2).toFixed(2)]);
  }
});

test.each([
  ["sluice queues", 3, { least: 11, most: 14 }],
  ["sluice doctor", 10, { least: 25, most: 35 }],
])(
  "%s costs %i commands, and for each queue as many as the page says",
  async (command, alone, { least, most }) => {
    night.database.call("FLUSHALL");
    const cost = async () => {
      night.gateway.resetUsage();
      await night.terminal.run(command, night.env);
      return night.gateway.usage().commands;
    };
    // The first run sends the scripts.
    await cost();
    expect(await cost()).toBe(alone);
    for (const name of ["emails", "reports", "letters"])
      await queue(name).enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await cost();
    const each = ((await cost()) - alone) / 3;
    expect(each).toBeGreaterThanOrEqual(least);
    expect(each).toBeLessThanOrEqual(most);
  },
);
