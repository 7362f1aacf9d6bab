import { expect, test } from "vitest";
import { useCli } from "./rig.ts";

const rig = useCli();
const { sluice, piping, onTerminal } = rig;

/** Enqueues and pulls one task, and returns its receipt. */
const pulled = async (id: string, maxAttempts = 10): Promise<string> => {
  await rig.queue().enqueue(1, { id, maxAttempts });
  return (await sluice("pull", "emails")).rows[0].receipt as string;
};

test("pull leases the next tasks and prints them with their receipts", async () => {
  await rig.operator().configure({ maxWorking: 5 });
  expect(await onTerminal("pull", "emails")).toMatchObject({
    code: 0,
    out: "",
    err: "No task was delivered: none is pending, or a pause or a limit holds it back.\n",
  });
  await rig.queue().enqueueMany([{ payload: { n: 1 }, id: "a" }, { payload: 2, id: "b" }, { payload: 3 }]);
  const before = Date.now();
  const { rows } = await sluice("pull", "emails", "--max", "2", "--lease", "1h");
  expect(rows).toMatchObject([
    { id: "a", attempt: 1, payload: { n: 1 }, receipt: expect.any(String) },
    { id: "b", payload: 2 },
  ]);
  expect(rows[0].deadlineAt - before).toBeGreaterThan(3_500_000);
  expect((await onTerminal("pull", "emails")).text).toMatch(
    /^ID +DELIVERY +LEASE UNTIL +RECEIPT +PAYLOAD\n\S+ +1 +\S+ \S+ +\S+ +3\n$/,
  );
  expect(await rig.queue().counts()).toMatchObject({ pending: 0, working: 3 });
});

test("settle says what became of each task", async () => {
  const complete = await pulled("complete");
  expect((await sluice("settle", "emails", complete, "--complete")).rows).toEqual([
    { receipt: complete, ok: true, state: "completed" },
  ]);
  for (const [outcome, state] of Object.entries({
    reject: "rejected",
    extend: "working",
    requeue: "pending",
  })) {
    const { code, text } = await onTerminal("settle", "emails", await pulled(outcome), `--${outcome}`);
    expect([code, text]).toEqual([
      0,
      expect.stringMatching(new RegExp(`^RECEIPT +RESULT\\n\\S+ +${state}\\n$`)),
    ]);
  }
});

test("settle of a lost lease ends with 1, and settles the others", async () => {
  const lost = await pulled("lost");
  await rig.queue().cancel("lost");
  await sluice("settle", "emails", lost, "--requeue");
  const held = await pulled("held");
  const { code, rows } = await sluice("settle", "emails", lost, held, "--complete");
  expect(code).toBe(1);
  expect(rows).toEqual([
    { receipt: lost, ok: false, code: "lease_lost" },
    { receipt: held, ok: true, state: "completed" },
  ]);
});

test("settle takes settlements from a pipe, of more than one request", async () => {
  await rig.queue().enqueueMany(Array.from({ length: 600 }, (_, n) => ({ payload: n })));
  const leased = await rig.queue().dequeue({ max: 600 });
  const input = leased.map(({ receipt }) => `${JSON.stringify({ receipt, outcome: "complete" })}\n`).join("");
  const { code, rows } = await piping(input, "settle", "emails");
  expect([code, rows.filter(({ ok }) => ok).length]).toEqual([0, 600]);
  expect(await piping("", "settle", "emails")).toMatchObject({ code: 0, out: "" });
});

test("a line that settle cannot take is named, and the requests before are settled", async () => {
  const receipt = await pulled("one");
  const line = JSON.stringify({ receipt, outcome: "complete" });
  expect(await piping(`${line}\n{\n`, "settle", "emails")).toMatchObject({
    code: 1,
    err: "sluice: line 2 is not JSON\n",
  });
  expect(await piping(`${line}\n{"receipt":"x","outcome":"done"}\n`, "settle", "emails")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^sluice: line 2: /),
  });
  expect(await rig.queue().get("one")).toMatchObject({ state: "working" });
});

test("pull and settle work a queue off in a pipe", async () => {
  await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const { out } = await sluice("pull", "emails", "--max", "10");
  const { code, rows } = await piping(out, "settle", "emails", "--complete", "--result", "1");
  expect([code, rows.map(({ state }) => state)]).toEqual([0, ["completed", "completed"]]);
  expect(await piping('{"id":"x"}\n', "settle", "emails", "--complete")).toMatchObject({
    code: 1,
    err: expect.stringMatching(/^sluice: line 1: receipt /),
  });
});
