import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { Schedules } from "../../src/index.ts";
import { resp } from "../../src/transport/resp.ts";
import { runBash, startSluice } from "./process.ts";
import { targets, useCli, useFolder } from "./rig.ts";
import { runHere } from "./run-here.ts";

const rig = useCli();
const folder = useFolder();

test.each([
  [["nope"], "sluice: unknown command 'nope'\nSee `sluice --help`.\n"],
  [["help", "nope"], "sluice: unknown command 'nope'\nSee `sluice --help`.\n"],
  [["ls", "emails", "--nope"], "sluice: unknown option '--nope'\nSee `sluice ls --help`.\n"],
  [["redrive", "emails", "--dryrun"], "unknown option '--dryrun'\n(Did you mean --dry-run?)"],
  [["ls"], "sluice: <queue> is required\nSee `sluice ls --help`.\n"],
  [["show", "emails"], "sluice: <id> is required"],
  [["cancel", "emails"], "sluice: <ids> is required"],
  [["ls", "emails", "reports"], "sluice: too many arguments for 'ls'. Expected 1 argument but got 2."],
  [["ls", "emails", "--limit"], "sluice: --limit <number> needs a value"],
  [["ls", "emails", "--limit", "0"], "sluice: --limit must be a whole number of at least 1"],
  [["ls", "emails", "--state", "dead"], "sluice: --state must be one of pending, delayed, working"],
  [["redrive", "emails", "--rate", "Infinity"], "sluice: --rate must be a number above 0"],
  [["redrive", "emails", "--rate", "0"], "sluice: --rate must be a number above 0"],
  [
    ["dead", "emails", "--since", "25:00"],
    "sluice: --since must be a duration ago, such as 2h, or a local time",
  ],
  [["dead", "emails", "--since", "1700000000"], "sluice: --since must be a duration ago"],
  [["stats", "emails", "--watch", "soon"], "sluice: --watch must be a duration"],
  [["stats", "emails", "--watch", "0"], "sluice: --watch must be at least 100ms"],
  // What is behind the = may be a secret.
  [["queues", "--token=s3cret"], "sluice: unknown option '--token'\nSee `sluice queues --help`.\n"],
  [["completions", "ksh"], "sluice: <shell> must be one of bash, zsh, fish"],
])("sluice %j ends with 2", async (args, message) => {
  const { code, out, err } = await rig.sluice("the database", args);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toContain(message);
  expect(err).not.toContain("s3cret");
});

/** Of each command that works with queues, arguments that it takes. */
const ARGUMENTS: Readonly<Record<string, readonly string[]>> = {
  queues: [],
  ls: ["emails"],
  show: ["emails", "a"],
  dead: ["emails"],
  stats: ["emails"],
  tail: ["emails"],
  schedules: ["emails"],
  workers: ["emails"],
  doctor: [],
  redrive: ["emails"],
  cancel: ["emails", "a"],
  purge: ["emails", "--state", "completed", "--yes"],
  pause: ["emails"],
  resume: ["emails"],
  settings: ["emails", "maxWorking=3"],
  partitions: ["emails"],
  sweep: [],
  deploy: ["none.mjs"],
  enqueue: ["emails", "1"],
  pull: ["emails", "--max", "2", "--lease", "1m"],
  settle: ["emails", "1.1.1.unknown0.a", "--complete"],
  export: ["emails"],
  import: ["emails"],
};

test("every command takes the options that say where the queues are", async () => {
  const names = createProgram({ io: {} } as never)
    .commands.filter(({ options }) => options.some(({ long }) => long === "--database"))
    .map((command) => command.name());
  expect(names).toEqual(Object.keys(ARGUMENTS));
  const file = join(folder.path, ".env");
  const variables = { ...rig.environmentOf("the database"), ...rig.environmentOf("a deployment") };
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
  await writeFile(file, lines.join(""));
  await writeFile(
    join(folder.path, "none.mjs"),
    "export const emails = { name: 'emails', connect() {}, settings: {}, schedules: {}, options: {} };",
  );
  for (const where of [["--database"], ["--url", rig.url], []]) {
    for (const [name, given] of Object.entries(ARGUMENTS)) {
      await rig.queue().enqueue(1, { id: "a" });
      await rig.operator().configure({ events: true });
      const args = given.map((arg) => (arg === "none.mjs" ? join(folder.path, arg) : arg));
      // Only tail goes on until Ctrl-C.
      const interrupted = name === "tail" ? AbortSignal.timeout(500) : undefined;
      const { code, err } = await runHere(
        [name, ...args, "--json", "--env-file", file, ...where],
        {},
        { stdin: "", interrupted },
      );
      const expected = { settle: 1, tail: 130 }[name] ?? 0;
      expect([name, where, code, err]).toEqual([
        name,
        where,
        expected,
        expect.not.stringContaining("sluice:"),
      ]);
    }
  }
});

describe.each(targets)("with %s", (target) => {
  const sluice = (...args: string[]) => rig.sluice(target, args);

  test.each([
    [["ls", "../x"]],
    [["ls", ".."]],
    [["pause", "."]],
    [["stats", "a/b"]],
    [["purge", "a b", "--state", "completed", "--yes"]],
    [["tail", "x%2F..%2Fy"]],
    [["settings", "emails", "--group", ".."]],
    [["schedules", "emails", "--pause", ".."]],
    [["schedules", "emails", "--remove", ".."]],
    [["workers", "emails", "--fail", ".."]],
    [["show", "emails", ".."]],
    [["show", "emails", "a b"]],
    [["cancel", "emails", "a\nb"]],
    [["cancel", "emails", "task", "a b"]],
    [["redrive", "emails", "\u001b[31m"]],
    [["pull", ""]],
  ])("%j is refused by its name, and changes nothing", async (args) => {
    await rig.queue().enqueue(1, { id: "task" });
    const { code, out, err } = await sluice(...args);
    expect([code, out]).toEqual([2, ""]);
    expect(err).toMatch(/ must be 1 to 128 (?:of A-Z|visible ASCII)/);
    expect(await rig.queue().counts()).toMatchObject({ pending: 1, paused: false });
  });

  test("ids with %2F, ?, # and .. are found as they are", async () => {
    for (const id of ["a%2Fb", "a/../b?c#d", "a%", "a..", "a;b%3B"]) {
      await rig.die(id);
      expect((await sluice("show", "emails", id)).rows).toMatchObject([{ id, state: "rejected" }]);
      expect(await sluice("redrive", "emails", id)).toMatchObject({ code: 0 });
      expect(await sluice("cancel", "emails", id)).toMatchObject({ code: 0 });
    }
    expect((await sluice("show", "emails", "a/b")).err).toBe(
      "sluice: emails has no task a/b; its record may have expired\n",
    );
  });

  test("groups, workers and schedules with such names, too", async () => {
    const name = "a/../b%2F?c;#";
    await rig.queue().enqueue(1, { group: name });
    await rig.queue().dequeue({ worker: { name } });
    expect((await sluice("settings", "emails", "--group", name, "weight=2")).rows).toMatchObject([
      { weight: 2 },
    ]);
    expect((await sluice("settings", "emails", "--group", name)).rows).toMatchObject([
      { group: name, working: 1 },
    ]);
    expect((await sluice("workers", "emails", "--fail", name)).rows).toMatchObject([
      { worker: name, returned: 1 },
    ]);
    expect((await sluice("ls", "emails", "--group", name)).rows).toMatchObject([{ group: name }]);
    const transport = resp(rig.redis.url);
    await new Schedules("emails", { transport }).put(name, { every: "1h", payload: 1 });
    await transport.close();
    expect((await sluice("schedules", "emails", "--pause", name)).rows).toMatchObject([
      { name, paused: true },
    ]);
    expect((await sluice("schedules", "emails", "--remove", name)).rows).toEqual([]);
  });

  test("control characters of others never reach the terminal", async () => {
    const evil = "\u001b[2J\u001b]0;x\u0007\r\n\t\u009b31m\u202e\u2028\u0000";
    await rig.die("evil", { name: evil, message: evil }, { payload: { [evil]: evil } });
    await rig.queue().enqueue(evil, { id: "waiting", headers: { h: evil } });
    const raw = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u;
    for (const args of [
      ["ls", "emails"],
      ["ls", "emails", "--payloads"],
      ["ls", "emails", "--payloads", "--json"],
      ["show", "emails", "evil"],
      ["show", "emails", "evil", "--json"],
      ["show", "emails", "evil", "--mask"],
      ["show", "emails", "waiting"],
      ["dead", "emails"],
      ["redrive", "emails", "--dry-run"],
      ["export", "emails", "--state", "pending,rejected"],
      ["pull", "emails"],
    ]) {
      const { code, text, err } = await rig.sluice(target, args, {
        terminal: true,
        env: { NO_COLOR: "1" },
      });
      expect([args, code]).toEqual([args, 0]);
      expect(text + err).not.toMatch(raw);
      expect(text.length).toBeGreaterThan(50);
    }
    const { err } = await sluice("ls", `emails${evil}`);
    expect(err).not.toMatch(raw);
  });

  test("what comes from a pipe is the same value, although it is escaped", async () => {
    const text = "\u009b\u202e\u{e0041}👩‍👧\u2028";
    await rig.queue().enqueue(text);
    const { out, rows } = await sluice("ls", "emails", "--payloads");
    expect(rows).toMatchObject([{ payload: text }]);
    expect(out).toContain(String.raw`\u009b\u202e\udb40\udc41`);
  });

  test("errors and payloads of a megabyte are one short line, and shown in full only as JSON", async () => {
    const long = "ä".repeat(500_000);
    for (const id of ["a", "b", "c"]) await rig.die(id, long, { payload: { long } });
    for (const args of [
      ["ls", "emails"],
      ["ls", "emails", "--payloads"],
      ["dead", "emails"],
    ]) {
      const { text } = await rig.sluice(target, args, { terminal: true, columns: 80 });
      for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
    const shown = await rig.sluice(target, ["show", "emails", "a"], { terminal: true });
    expect(shown.text.length).toBeLessThan(30_000);
    expect(shown.text).toContain("characters in all; --json shows them");
    expect((await sluice("show", "emails", "a")).rows).toMatchObject([{ payload: { long } }]);
  });

  test("2,000 queues are listed in order, 100 a request", async () => {
    const names = Array.from({ length: 2_000 }, (_, i) => `q${String(i).padStart(4, "0")}`);
    await Promise.all(names.map((name) => rig.queue(name).enqueue(1)));
    const { code, rows } = await sluice("queues");
    expect([code, rows.map(({ name }) => name as string)]).toEqual([0, names]);
    const { text } = await rig.sluice(target, ["queues", "q19"], { terminal: true });
    expect(text.split("\n")).toHaveLength(102);
    expect((await rig.sluice(target, ["queues", "nope"], { terminal: true })).err).toBe(
      'No queue has a name that contains "nope".\n',
    );
  });

  test("colours are only for a terminal, and not with NO_COLOR, TERM=dumb or --json", async () => {
    await rig.die("a");
    const isColoured = async (env: Record<string, string>, terminal: boolean, ...more: string[]) => {
      const { out } = await rig.sluice(target, ["queues", ...more], { terminal, env });
      return out.includes("\u001b");
    };
    expect(await isColoured({}, true)).toBe(true);
    expect(await isColoured({}, false)).toBe(false);
    expect(await isColoured({ NO_COLOR: "1" }, true)).toBe(false);
    expect(await isColoured({ TERM: "dumb" }, true)).toBe(false);
    expect(await isColoured({}, true, "--json")).toBe(false);
  });

  test("a reader that has enough ends it quietly", async () => {
    const payload = "x".repeat(1_000);
    await rig.queue().enqueueMany(Array.from({ length: 1_000 }, () => ({ payload })));
    const { code, out, err } = await runBash(
      `set -o pipefail; sluice ls emails --payloads --limit 1000 | head -1`,
      rig.environmentOf(target),
    );
    expect([code, out.split("\n").length, err]).toEqual([0, 2, ""]);
    expect((await runBash("sluice export emails | head -1", rig.environmentOf(target))).err).not.toContain(
      "EPIPE",
    );
  });
});

test("help shows the options of a command", async () => {
  const help = await runHere(["help", "redrive"], {});
  expect(help).toMatchObject({ code: 0, err: "" });
  expect(help.out).toMatch(
    /^Usage: sluice redrive \[options\] <queue> \[ids\.\.\.\]\n[^]*--dry-run[^]*--rejected/,
  );
  expect((await runHere(["redrive", "--help"], {})).out).toBe(help.out);
  expect((await runHere([], {})).code).toBe(2);
});

test("the real program has the same exit codes", async () => {
  const run = (args: string[], env: Record<string, string> = {}) => startSluice(args, env).ended;
  const database = rig.environmentOf("the database");
  const [done, failed, usage, unset] = await Promise.all([
    run(["queues"], database),
    run(["show", "emails", "nope"], database),
    run(["queues", "--nope"], database),
    run(["queues"]),
  ]);
  expect([done, failed, usage, unset].map(({ code }) => code)).toEqual([0, 1, 2, 2]);
  const { child, ended } = startSluice(["stats", "emails", "--watch"], database);
  await once(child.stdout!, "data");
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130, signal: null });
});
