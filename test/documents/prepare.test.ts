import { expect, test } from "vitest";
import { textOf } from "./code.ts";
import { examplesOf, testCommands } from "./commands.ts";
import { minutesAgo, range, useDeployed } from "./scene.ts";

const PAGE = "docs/operating/prepare.md";
const page = textOf(PAGE);
const deployed = useDeployed();
const { queue, enqueueMails, raw } = deployed;

const old = { token: "the-old-token-of-a-caller", scopes: ["enqueue" as const], queues: "emails*" };
let variables: Record<string, string> = {};

testCommands(PAGE, {
  run: (command) => deployed.run(command, variables),
  before: {
    Alerts: async () => {
      await enqueueMails(range(17, 29), { maxAttempts: 1 });
      for (const task of await queue().dequeue({ max: 13 }))
        await task.requeue({ error: new Error("HTTP 503") });
      await queue("reports", { now: minutesAgo(22) }).enqueue({ report: 7 });
    },
    Redis: async () => {
      await raw("FLUSHALL");
      await raw("CONFIG", "SET", "maxmemory-policy", "allkeys-lru");
      await queue().enqueue(1);
      // The user with the fewest rights.
      const [, user = ""] = /^ACL (SETUSER sluice .*)$/m.exec(textOf("SECURITY.md")) ?? [];
      await raw("ACL", ...user.split(" "));
      const { url } = deployed.redis;
      variables = {
        SLUICE_URL: "",
        REDIS_URL: url,
        URL_OF_SLUICE_USER: url.replace("redis://", "redis://sluice:PASSWORD@"),
      };
    },
    Tokens: () => {
      variables = { OLD_TOKEN: old.token };
      deployed.deploy({ tokens: [old] });
    },
    Upgrade: async () => {
      deployed.deploy({});
      await raw("FLUSHALL");
      await enqueueMails([17, 18]);
      await raw("HSET", "sluice:{emails}:tasks", "welcome-17", "2;x=y\nunknown");
    },
  },
  after: {
    "sluice token": (screen) => {
      variables["NEW_TOKEN"] = /SLUICE_TOKEN=(\S+)/.exec(screen)?.[1] ?? "";
      const made = /SLUICE_TOKENS='(.*)'/.exec(screen)?.[1] ?? "[]";
      deployed.deploy({ tokens: [old, ...(JSON.parse(made) as (typeof old)[])] });
    },
    'SLUICE_TOKEN="$NEW_TOKEN"': () =>
      deployed.deploy({ tokens: [{ ...old, token: variables["NEW_TOKEN"] ?? "" }] }),
  },
});

test("the lines of the crontab are the commands whose output the page shows", () => {
  const [, crontab = ""] = /```crontab\n([\s\S]*?)```/.exec(page) ?? [];
  const jobs = Array.from(crontab.matchAll(/^\*\/5 \* \* \* \* {2}(.*)$/gm), ([, job]) => job);
  expect(jobs).toHaveLength(1);
  expect(examplesOf(PAGE).map(({ command }) => command)).toEqual(expect.arrayContaining(jobs));
});

test("the bytes of a task are those of the benchmarks", () => {
  const rowsOf = (text: string) =>
    Array.from(text.matchAll(/^\| (pending|delayed|working|completed, [a-z ]+?)(?::[^|]*)? \| (.*) \|$/gm));
  const [, chapter = ""] = /\n## Memory\n([\s\S]*?)\n## /.exec(textOf("notes/benchmarks.md")) ?? [];
  const measured = rowsOf(chapter).map(([, state, cells = ""]) => {
    const bytes = cells.split(" | ").map(Number);
    return `${state}: ${Math.min(...bytes)} to ${Math.max(...bytes)}`;
  });
  expect(measured).toHaveLength(5);
  const shown = rowsOf(page).map(([, state, cells = ""]) => `${state}: ${cells.split(" | ")[0]}`);
  expect(shown).toEqual(measured);
});

test.each([
  ["sluice queues", 3, { least: 11, most: 14 }],
  ["sluice doctor", 10, { least: 35, most: 45 }],
])(
  "%s costs %i commands, and for each queue as many as the page says",
  async (command, alone, { least, most }) => {
    await raw("FLUSHALL");
    const env = {
      SLUICE_URL: "",
      UPSTASH_REDIS_REST_URL: deployed.gateway.url,
      UPSTASH_REDIS_REST_TOKEN: deployed.gateway.token,
    };
    const cost = async () => {
      deployed.gateway.resetUsage();
      await deployed.run(command, env);
      return deployed.gateway.usage().commands;
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
