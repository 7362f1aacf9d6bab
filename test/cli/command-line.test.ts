import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createProgram } from "../../src/cli/program.ts";
import { useFolder } from "../support/folder.ts";
import { useCli } from "./rig.ts";
import { runHere } from "./run-here.ts";

const rig = useCli();
const { sluice, onTerminal } = rig;
const folder = useFolder();

/** Each command that works with queues, with arguments that it takes. */
const COMMANDS = `
  queues; ls emails; find a; show emails a; dead emails; stats emails; tail emails; groups emails; flow --add none.json;
  schedules emails; topics; workers emails; doctor;
  redrive emails; skip emails a; cancel emails a; forget emails a; purge emails --state completed --yes; pause emails; resume emails;
  settings emails maxWorking=3; partitions emails; endpoints;
  subscribe emails orders; replay orders --to emails --since 1h; unsubscribe emails orders; delete emails --force --yes; sweep; deploy none.mjs; enqueue emails 1; publish orders 1;
  pull emails --max 2 --lease 1m; settle emails 1.1.1.unknown0.a --complete; export emails; import emails`
  .split(";")
  .map((line) => line.trim().split(" ") as [name: string, ...args: string[]]);

test("every command takes the options that say where the queues are", async () => {
  const names = createProgram({ io: {} } as never)
    .commands.filter(({ options }) => options.some(({ long }) => long === "--database"))
    .map((command) => command.name());
  expect(names).toEqual(COMMANDS.map(([name]) => name));
  const file = join(folder.path, ".env");
  const variables = { ...rig.environmentOf("the database"), ...rig.environmentOf("a deployment") };
  const lines = Object.entries(variables).map(([name, value]) => `${name}='${value}'\n`);
  await writeFile(file, lines.join(""));
  await writeFile(
    join(folder.path, "none.mjs"),
    "export const emails = { name: 'emails', connect() {}, settings: {}, schedules: {}, options: {} };",
  );
  const tasks = [{ ref: "a", queue: "emails", payload: 1 }];
  await writeFile(join(folder.path, "none.json"), JSON.stringify({ id: "none", tasks }));
  for (const where of [["--database"], ["--url", rig.url], []]) {
    for (const [name, ...given] of COMMANDS) {
      await rig.queue().enqueue(1, { id: "a" });
      await rig.operator().configure({ events: true });
      const args = given.map((arg) => (/^none\.m?js/.test(arg) ? join(folder.path, arg) : arg));
      // Only tail goes on until Ctrl-C.
      const ctrlC = new AbortController();
      const { code, err } = await runHere(
        [name, ...args, "--json", "--env", file, ...where],
        {},
        {
          stdin: "",
          interrupted: ctrlC.signal,
          onError: (text) => text.includes("Following") && ctrlC.abort(),
        },
      );
      const expected = { skip: 1, forget: 1, settle: 1, tail: 130 }[name] ?? 0;
      expect([name, where, code]).toEqual([name, where, expected]);
      expect(err).not.toContain("sluice:");
    }
  }
});

test("control characters of others never reach the terminal", async () => {
  const evil = "\u001b[2J\u001b]0;x\u0007\r\n\t\u009b31m\u202e\u2028\u0000";
  await rig.die("evil", { name: evil, message: evil }, { payload: { [evil]: evil } });
  await rig.queue().enqueue(evil, { id: "waiting", headers: { h: evil } });
  const raw = /[^\P{C}\n]|[\p{Zl}\p{Zp}]/u;
  const lines = `ls emails; ls emails --payloads; ls emails --payloads --json; show emails evil; show emails evil --json;
    show emails evil --mask; show emails waiting; dead emails; redrive emails --dry-run;
    export emails --state pending,rejected; pull emails`;
  for (const line of lines.split(/;\s+/)) {
    const { code, text, err } = await rig.run(line.split(" "), { terminal: true, env: { NO_COLOR: "1" } });
    expect([line, code]).toEqual([line, 0]);
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
  for (const line of ["ls emails", "ls emails --payloads", "dead emails"]) {
    const { text } = await rig.run(line.split(" "), { terminal: true, columns: 80 });
    for (const shown of text.split("\n")) expect(shown.length).toBeLessThanOrEqual(80);
  }
  const shown = await onTerminal("show", "emails", "a");
  expect(shown.text.length).toBeLessThan(30_000);
  expect(shown.text).toContain("characters in all; --json shows them");
  expect((await sluice("show", "emails", "a")).rows).toMatchObject([{ payload: { long } }]);
});

test("many queues are listed in order, 100 a request", async () => {
  const names = Array.from({ length: 250 }, (_, i) => `q${String(i).padStart(4, "0")}`);
  await Promise.all(names.map((name) => rig.queue(name).enqueue(1)));
  const { code, rows } = await sluice("queues");
  expect([code, rows.map(({ name }) => name as string)]).toEqual([0, names]);
  expect((await onTerminal("queues", "q01")).text.split("\n")).toHaveLength(102);
  expect((await onTerminal("queues", "nope")).err).toBe('No queue has a name that contains "nope".\n');
});

test.each<[boolean, Record<string, string>, boolean, string[]]>([
  [true, {}, true, []],
  [false, {}, false, []],
  [false, { NO_COLOR: "1" }, true, []],
  [false, { TERM: "dumb" }, true, []],
  [false, {}, true, ["--json"]],
])(
  "colours are only for a terminal, and not with NO_COLOR, TERM=dumb or --json: %j, %j, %j, %j",
  async (...row) => {
    const [coloured, env, terminal, more] = row;
    await rig.die("a");
    const { out } = await rig.run(["queues", ...more], { terminal, env });
    expect(out.includes("\u001b")).toBe(coloured);
  },
);

test("help shows the options of a command", async () => {
  const help = await runHere(["help", "redrive"], {});
  expect(help).toMatchObject({ code: 0, err: "" });
  expect(help.out).toMatch(
    /^Usage: sluice redrive \[options\] <queue> \[ids\.\.\.\]\n[^]*--dry-run[^]*--rejected/,
  );
  expect((await runHere(["redrive", "--help"], {})).out).toBe(help.out);
  expect((await runHere([], {})).code).toBe(2);
});
