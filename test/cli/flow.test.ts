import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
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
