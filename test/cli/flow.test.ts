import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { linked } from "../../src/features/linked/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { type Commands, targets, useCli } from "./rig.ts";

const rig = useCli();
const folder = mkdtempSync(join(tmpdir(), "sluice-flow-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "night.json");

const tasks = [
  { ref: "fetch", queue: "imports", payload: { url: "https://example.com" } },
  { ref: "rows", queue: "rows", payload: {}, after: "fetch" },
  { ref: "mail", queue: "emails", payload: { to: "a" }, after: ["rows", { ref: "audit", on: "ended" }] },
  { ref: "audit", queue: "audits", payload: {} },
];

/** Adds the flow from a file. Returns the ids of its tasks. */
async function addNight({ sluice }: Commands): Promise<Record<string, string>> {
  writeFileSync(file, JSON.stringify({ id: "night", tasks }));
  const { code, rows, err } = await sluice("flow", "--add", file);
  expect([code, err]).toEqual([0, "To see it: sluice flow night@imports\n"]);
  expect(rows).toEqual([{ id: "night@imports", created: true, tasks: expect.any(Object) }]);
  return rows[0].tasks;
}

describe.each(targets)("with %s", (target) => {
  test("a flow is added from a file or a pipe, and its blocked tasks are shown", async () => {
    const { sluice, piping, onTerminal } = rig.to(target);
    // The target remembers that it has noted the queue, also if another test has.
    await rig.queue("emails").enqueue({ to: "b" });
    const { mail = "" } = await addNight(rig.to(target));
    const again = await onTerminal("flow", "--add", file);
    expect([again.code, again.text]).toEqual([0, "The flow night@imports exists already.\n"]);
    const piped = await piping(JSON.stringify(tasks), "flow", "--add", "-");
    expect([piped.code, piped.rows]).toMatchObject([0, [{ created: true }]]);

    expect((await sluice("ls", "emails", "--state", "blocked")).rows).toHaveLength(2);
    expect((await sluice("find", "to", "--state", "blocked")).rows).toHaveLength(2);
    expect((await onTerminal("queues", "emails")).text).toMatch(/BLOCKED +WORKING[^]*\n *emails +1 +0 +2 +0/);
    expect((await onTerminal("stats", "emails")).text).toContain("0 delayed  2 blocked  0 working");
    const { text } = await onTerminal("show", "emails", mail);
    expect(text).toContain(`${mail} of emails: blocked\n`);
    expect(text).toContain("flow        night@imports\n");
    expect((await sluice("purge", "emails", "--state", "blocked", "--yes")).rows).toEqual([
      { queue: "emails", state: "blocked", purged: 2 },
    ]);
  });
});

/** The drawing of the flow on a terminal, without its times. */
async function drawn({ run }: Commands, ...options: string[]): Promise<string[]> {
  const { code, text } = await run(["flow", "night@imports", ...options], { terminal: true });
  expect(code).toBe(0);
  const [head = "", times, empty, ...lines] = text.split("\n").slice(0, -1);
  expect(times).toMatch(/^added \d{4}-.* \(.*\)(?:, ended .* \(.*\))?$/);
  expect(empty).toBe("");
  return [head, ...lines];
}

describe.each(targets)("with %s", (target) => {
  test("a flow is drawn while its tasks end, is redriven and cancelled", async () => {
    const commands = rig.to(target);
    const { sluice, onTerminal } = commands;
    const { mail = "", audit = "" } = await addNight(commands);
    expect(await drawn(commands)).toEqual([
      "night@imports: running; 4 tasks, 2 pending, 2 blocked",
      "  ┌─o fetch  imports  pending",
      "┌─│─o audit  audits   pending",
      "├─┴>o rows   rows     blocked",
      "└>──o mail   emails   blocked  on any end of audit",
    ]);
    const connection = resp(rig.redis.url);
    onTestFinished(() => connection.close());
    const transport = linked(connection);
    await (await rig.queue("imports", { transport }).dequeue())[0]?.complete();
    await (await rig.queue("rows", { transport }).dequeue())[0]?.reject({ error: "no" });
    expect(await drawn(commands)).toEqual([
      "night@imports: running; 4 tasks, 1 pending, 1 completed, 2 dead",
      "  ┌─* fetch  imports  completed",
      "┌─│─o audit  audits   pending",
      "├─┴>x rows   rows     rejected   its consumer rejected it for good",
      "└>──x mail   emails   rejected   rows failed; on any end of audit",
    ]);
    const { rows } = await sluice("flow", mail);
    expect(rows[0]).toMatchObject({ id: "night@imports", state: "running", counts: { rejected: 2 } });
    expect((await onTerminal("flow", "night@imports", "--redrive")).text).toBe(
      "Redrove 1 task of night@imports.\n",
    );
    expect((await sluice("flow", audit, "--cancel")).rows).toEqual([
      { id: "night@imports", cancelled: 3, flagged: 0 },
    ]);
    expect(await drawn(commands, "--ascii")).toEqual([
      "night@imports: rejected, cancelled; 4 tasks, 1 completed, 3 dead",
      "  .-* fetch  imports  completed",
      ".-|-x audit  audits   rejected   it was cancelled",
      "+-'>x rows   rows     rejected   it was cancelled",
      "'>--x mail   emails   rejected   it was cancelled; on any end of audit",
    ]);
  });

  test("a flow that does not exist is refused", async () => {
    const { sluice } = rig.to(target);
    await rig.queue("imports").enqueue(1);
    for (const act of [[], ["--cancel"], ["--redrive"]]) {
      const { code, err } = await sluice("flow", "none@imports", ...act);
      expect([code, err]).toEqual([
        1,
        "sluice: there is no flow none@imports; its record may have expired\n",
      ]);
    }
    expect((await sluice("flow", "night@import")).err).toContain("did you mean imports?");
  });
});

test.each<[args: string[], message: string]>([
  [["night"], "<id> must be that of a flow"],
  [[], "give the id of a flow, or --add <file>"],
  [["a@b", "--add", "x"], "give the id of a flow, or --add <file>"],
  [["a@b", "--cancel", "--redrive"], "give one of --add, --cancel and --redrive"],
  [["--add", join(folder, "none.json")], "cannot be read: ENOENT"],
])("flow %j is a wrong command line", async (args, message) => {
  const { code, err } = await rig.sluice("flow", ...args);
  expect(code).toBe(2);
  expect(err).toContain(message);
});

test("what a file has that is no flow is refused", async () => {
  for (const [text, message] of [
    ["{", "is not JSON"],
    ["1", "must have an object, or a list of tasks"],
    ['[{"ref": "a", "queue": "q", "payload": 1, "after": "b"}]', "tasks[0].after"],
  ] as const) {
    const { code, err } = await rig.piping(text, "flow", "--add", "-");
    expect([code, err]).toEqual([2, expect.stringContaining(message)]);
  }
});
