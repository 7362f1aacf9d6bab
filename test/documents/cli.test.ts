import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { processIo } from "../../src/cli/io.ts";
import { NonRetryableError, Queue } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { essentials } from "../support/environment.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { type Example, withOutputs } from "./console-blocks.ts";
import { described, partsOf, withHelp } from "./help.ts";
import { useNight } from "./night.ts";
import type { Shown } from "./terminal.ts";

// To write the page anew: npx vitest run test/documents/cli.test.ts -u

const root = fileURLToPath(new URL("../../", import.meta.url));
const file = join(root, "docs/cli.md");
const page = readFileSync(file, "utf8");
const program = createProgram({ io: processIo(), exitCode: 0 });

test("each command is described once, in the order of the help", () => {
  const commands = described(program).map((command) => command.name());
  expect(commands.length).toBeGreaterThan(25);
  const parts = partsOf(page).filter((part) => part !== "commands" && !part.endsWith(":"));
  expect(parts).toEqual(commands);
  const headings = Array.from(page.matchAll(/^### (.*)$/gm), ([, heading]) => heading);
  expect(headings).toEqual(commands);
});

test("each option that a command of the page has exists", () => {
  const known = new Set(program.commands.flatMap(({ options }) => options.map(({ long }) => long)));
  const named = Array.from(page.matchAll(/\bsluice [^\n]*/g)).flatMap(([command]) =>
    Array.from(command.matchAll(/(?<= )--[a-z-]+/g), ([option]) => option),
  );
  expect(named.filter((option) => !known.has(option) && option !== "--help")).toEqual([]);
});

const night = useNight();
const { at, queue, operator } = night;
let redis: TestRedis;
beforeAll(async () => {
  redis = await startRedis({ args: ["--appendonly", "yes"] });
  await fillDatabase();
});
afterAll(() => redis.stop());

/** A night in which the mail server failed. */
async function fillDatabase(): Promise<void> {
  const emails = queue();
  at("01:40:00");
  await operator("emails").configure({ statistics: true });
  await night.enqueueMails([17, 18, 19], { maxAttempts: 3 });
  await emails.enqueue({ to: "missing@" }, { id: "welcome-20" });
  for (const time of ["01:40:02", "01:40:12", "01:41:42"]) {
    at(time);
    for (const task of await emails.dequeue({ max: 4 })) {
      if (task.id === "welcome-20")
        await task.reject(new NonRetryableError("the mail server refuses the address"));
      else await task.requeue({ error: new Error("HTTP 503"), delay: "10s" });
    }
  }
  at("02:09:50");
  await queue("reports").enqueue({ report: 7 }, { id: "report-7" });
  await operator("reports").pause();
  await emails.enqueueMany([
    { payload: { to: "a@example.com" }, id: "welcome-21" },
    { payload: { to: "b@example.com" }, id: "welcome-22", group: "tenant-7" },
    { payload: { to: "c@example.com" }, id: "welcome-23" },
    { payload: { to: "d@example.com" }, id: "welcome-24", delay: "1h" },
  ]);
  at("02:13:55");
  await emails.dequeue({ worker: { name: "mailer-1", node: "fra-1" } });
  const payload = { to: "team@example.com" };
  await night.schedules().put("digest", { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload });
  at("02:14:05");
}

/** What happens before the commands of a heading. */
const before: Readonly<Record<string, () => unknown>> = {
  doctor: async () => {
    night.byDay();
    const transport = resp(redis.url);
    const emails = new Queue("emails", { transport });
    await emails.enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    const [task] = await emails.dequeue();
    await task?.reject(new Error("HTTP 503"));
    await transport.close();
  },
  redrive: () => at("02:15:00"),
  partitions: async () => {
    const events = new Queue("events", { transport: night.transport(), partitions: 4 });
    for (let number = 1; number <= 12; number++) await events.enqueue({ number }, { id: `event-${number}` });
  },
  tail: () => operator("emails").configure({ events: true }),
  deploy: () => {
    const [, code = ""] = /### deploy\n[\s\S]*?```ts\n([\s\S]*?)```/.exec(page) ?? [];
    writeFileSync(join(night.terminal.folder, "queues.ts"), code);
    // The package as its users have it: the module is loaded by Node, which does not know the paths of the tests.
    const installed = join(night.terminal.folder, "..", "package");
    mkdirSync(installed);
    writeFileSync(join(installed, "package.json"), '{"type": "module", "exports": "./index.js"}');
    writeFileSync(join(installed, "index.js"), `export * from "${join(root, "src/index.ts")}";`);
    mkdirSync(join(night.terminal.folder, "node_modules"));
    symlinkSync(installed, join(night.terminal.folder, "node_modules/sluice-queue"));
    writeFileSync(join(night.terminal.folder, "package.json"), '{"type": "module"}');
  },
  "In scripts": () => operator("reports").pause(),
  "Large imports": () => {
    const lines = Array.from({ length: 1_200 }, (_, i) =>
      i === 1_100 ? "{to: 1}" : `{"to": "${i}@example.com"}`,
    );
    writeFileSync(join(night.terminal.folder, "mails.jsonl"), lines.join("\n"));
  },
};
const begun = new Set<string>();

async function run({ heading, command, shown }: Example): Promise<Shown> {
  if (!begun.has(heading)) await before[heading]?.();
  begun.add(heading);
  if (/^sluice (dev|serve|gateway)\b/.test(command)) return runServer(command);
  const variables: Record<string, string> =
    heading === "doctor" ? { REDIS_URL: redis.url } : { ...night.env };
  const [, receipt] = /\s(\d+\.\d+\.\d+\.\S+)/.exec(last.screen) ?? [];
  if (receipt !== undefined) variables["RECEIPT"] = receipt;
  last = command.startsWith("sluice tail")
    ? await followed(command, shown)
    : await night.terminal.run(command, variables);
  return last;
}
let last: Shown = { screen: "", code: 0 };

/** Follows events while a task is enqueued, worked on and completed, until as many lines are there as the page shows. */
async function followed(command: string, shown: string): Promise<Shown> {
  const enough = Math.max(4, shown.split("\n").length - 1);
  const following = night.terminal.run(command, night.env, (screen) => screen.split("\n").length > enough);
  const isFollowed = () => (night.database.call("PUBSUB", "CHANNELS") as string[]).length > 0;
  await vi.waitUntil(isFollowed, { timeout: 20_000 });
  const emails = queue();
  await emails.enqueue({ to: "g@example.com" }, { id: "welcome-25", priority: 9 });
  at("02:14:07");
  const [task] = await emails.dequeue();
  at("02:14:08");
  await task?.complete();
  return following;
}

/** The programs that serve run in processes of their own, at free ports, until they have printed what the page shows. */
async function runServer(command: string): Promise<Shown> {
  const [, name = "", ...args] = command.split(" ");
  const ports = name === "dev" ? ["--gateway-port", "0", "--port", "0"] : ["--port", "0"];
  const child = spawn(process.execPath, [join(root, "src/cli/main.ts"), name, ...args, ...ports], {
    env: {
      ...essentials,
      ...(name === "serve" && { REDIS_URL: redis.url, SLUICE_TOKENS: TOKENS }),
    },
  });
  let screen = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (part: Buffer) => (screen += part.toString()));
  await vi.waitUntil(() => /answers at|SLUICE_TOKENS|REST_TOKEN=\S+\n$/.test(screen), { timeout: 20_000 });
  child.kill("SIGTERM");
  await once(child, "close");
  return { screen, code: 0 };
}

const TOKENS = JSON.stringify([{ token: "a-token-for-the-page", scopes: ["admin"], queues: "*" }]);

test("what a server of the page prints is written with the usual ports, if it is written anew", async () => {
  const [block = ""] = /```console\n\$ sluice dev\n[^]*?\n```\n/.exec(page) ?? [];
  const shown = block.split("\n").slice(2, -2).join("\n");
  expect(shown).toContain(":8787/dashboard");
  const outdated = block.replace(shown, "nothing");
  let port = 40_000;
  const screen = shown.replaceAll(/(?<=127\.0\.0\.1:)\d+/g, () => String(port++));
  expect(await withOutputs(outdated, async () => ({ screen, code: 0 }))).toBe(block);
});

test(
  "the page has what the commands print, and what they say of themselves",
  { timeout: 120_000 },
  async () => {
    const rewritten = await withOutputs(withHelp(page, program), run);
    await expect(rewritten).toMatchFileSnapshot(file);
  },
);
