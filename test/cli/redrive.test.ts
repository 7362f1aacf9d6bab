import { expect, test } from "vitest";
import { drain, NonRetryableError } from "../../src/index.ts";
import { useCli } from "./rig.ts";

const rig = useCli();
const { sluice, onTerminal } = rig;

const stateOf = async (id: string) => (await rig.queue().get(id))?.state;
const numbered = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);
const statesOf = (...ids: string[]) => Promise.all(ids.map(stateOf));

test("redrive leaves what a NonRetryableError ended, and says so, until it is asked for", async () => {
  await rig.queue().enqueueMany(["fails", "hopeless"].map((id) => ({ payload: id, id, maxAttempts: 1 })));
  await drain(rig.queue(), ({ payload }) => {
    throw payload === "fails" ? new Error("HTTP 503") : new NonRetryableError("bad address");
  });
  expect(await statesOf("fails", "hopeless")).toEqual(["rejected", "rejected"]);

  const dry = await onTerminal("redrive", "emails", "--dry-run");
  expect(dry.text).toMatch(
    /^ID +DIED +REASON +ERROR\nfails +[\d: -]+ +attempts_exhausted +Error: HTTP 503\n$/,
  );
  const stays = "1 dead letter that a consumer rejected for good stays; --rejected takes it too.\n";
  expect([dry.code, dry.err]).toEqual([0, `1 dead letter would be redriven. Nothing was changed.\n${stays}`]);
  expect(await statesOf("fails", "hopeless")).toEqual(["rejected", "rejected"]);
  expect((await sluice("redrive", "emails", "--dry-run")).rows).toEqual([
    {
      id: "fails",
      endedAt: expect.any(Number),
      reason: "attempts_exhausted",
      error: { name: "Error", message: "HTTP 503" },
    },
  ]);

  expect(await onTerminal("redrive", "emails")).toMatchObject({
    code: 0,
    out: "Redrove 1 dead letter of emails.\n",
    err: expect.stringContaining(stays),
  });
  expect(await statesOf("fails", "hopeless")).toEqual(["pending", "rejected"]);
  expect((await sluice("redrive", "emails", "--rejected")).rows).toEqual([{ queue: "emails", redriven: 1 }]);
  expect(await stateOf("hopeless")).toBe("pending");
});

test("redrive by --reason takes what a consumer rejected; also what expired", async () => {
  await rig.die("rejected", "no", { rejected: true });
  await rig.die("exhausted");
  await rig.queue().enqueue(1, { id: "expired", maxAttempts: 1, lease: 1 });
  await rig.queue().dequeue();
  await expect.poll(() => sluice("sweep").then(() => stateOf("expired"))).toBe("rejected");
  expect((await sluice("redrive", "emails", "--reason", "rejected, lease_expired")).rows).toEqual([
    { queue: "emails", redriven: 2 },
  ]);
  expect(await statesOf("rejected", "exhausted", "expired")).toEqual(["pending", "rejected", "pending"]);
});

test("redrive takes those that match, the oldest first and at most --limit", async () => {
  for (const n of [1, 2, 3]) await rig.die(`t${n}`, `HTTP 503 ${n}`, { group: "tenant" });
  await rig.die("other", "HTTP 500");
  const redriven = async (...args: string[]) =>
    (await sluice("redrive", "emails", ...args)).rows[0].redriven as number;
  expect(await redriven("--group", "tenant", "--limit", "2")).toBe(2);
  expect(await statesOf("t1", "t2", "t3", "other")).toEqual(["pending", "pending", "rejected", "rejected"]);
  const dry = (await sluice("redrive", "emails", "--dry-run", "--text", "503")).rows;
  expect(dry.map(({ id }) => id)).toEqual(["t3"]);
  expect((await sluice("redrive", "emails", "--dry-run", "--limit", "1")).rows).toHaveLength(1);
  expect(await redriven("--until", "1h")).toBe(0);
  expect(await redriven("--since", "1h", "--text", "500")).toBe(1);
});

test("redrive --rate spreads them over time, and says for how long", async () => {
  await rig.die(numbered(5));
  const before = Date.now();
  expect((await onTerminal("redrive", "emails", "--rate", "0.5")).out).toBe(
    "Redrove 5 dead letters of emails. They become pending within 8s.\n",
  );
  expect(await rig.queue().counts()).toMatchObject({ pending: 1, delayed: 4, rejected: 0 });
  const last = (await rig.queue().get("t4"))?.dueAt ?? 0;
  expect(last - before).toBeGreaterThan(7_900);
  expect(last - before).toBeLessThan(20_000);
});

test("redrive --rate goes on evenly over several requests", async () => {
  await rig.die(numbered(400), "no", { rejected: true });
  expect((await sluice("redrive", "emails", "--rejected", "--rate", "2")).rows).toEqual([
    { queue: "emails", redriven: 400 },
  ]);
  const { tasks } = await rig.operator().list({ state: "delayed", size: 1_000 });
  const due = tasks.map(({ dueAt = 0 }) => dueAt).toSorted((a, b) => a - b);
  const gaps = due.slice(1).map((at, i) => at - (due[i] ?? 0));
  expect([due.length, Math.min(...gaps), Math.max(...gaps)]).toEqual([399, 500, 500]);
});

test("redrive by ids takes them whatever ended them, and ends with 1 if one is refused", async () => {
  await rig.die(["a", "c"], "no", { rejected: true });
  await rig.die("b");
  await rig.queue().enqueue(1, { id: "alive" });
  expect((await onTerminal("redrive", "emails", "a", "--dry-run")).out).toBe(
    "1 of 1 would be redriven. Nothing was changed.\n",
  );
  const { err } = await onTerminal("redrive", "emails", "a");
  const note = "No consumer was woken: it starts with the next cron, in a server with its next sweep.";
  expect(err).not.toContain(note);
  const database = await rig.to("the database").onTerminal("redrive", "emails", "c");
  expect(database.err).toContain(note);
  expect(await onTerminal("redrive", "emails", "b", "alive", "nope")).toMatchObject({
    code: 1,
    out: "Redrove 1 of 3.\nalive: not_dead_letter\nnope: not_found\n",
  });
  expect((await sluice("redrive", "emails", "alive")).rows).toEqual([
    { queue: "emails", redriven: 0, refused: [{ id: "alive", code: "not_dead_letter" }] },
  ]);
  for (const wrong of [["--limit", "1"], ["--rejected"], ["--text", "x"]])
    expect(await sluice("redrive", "emails", "a", ...wrong)).toMatchObject({ code: 2, out: "" });
  expect(await sluice("redrive", "emails", "--rejected", "--reason", "rejected")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--rejected must not be given with --reason"),
  });
});

test("redrive takes more ids than one request", async () => {
  const ids = numbered(1_001);
  const { code, rows } = await sluice("redrive", "emails", ...ids);
  expect([code, rows[0].redriven, rows[0].refused.length]).toEqual([1, 0, 1_001]);
  expect((await sluice("redrive", "emails", "--rate", "1", ...ids)).code).toBe(2);
});

test("redrive reports records that it cannot read, and ends with 1", async () => {
  await rig.die(["a", "b"]);
  await rig.raw(["HSET", "sluice:{emails}:tasks", "a", "9;unknown"]);
  expect(await sluice("redrive", "emails")).toMatchObject({
    code: 1,
    out: '{"queue":"emails","redriven":1}\n',
    err: expect.stringContaining("1 dead letter cannot be read"),
  });
  expect(await sluice("redrive", "emails", "--dry-run")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("1 task cannot be read: update sluice-queue, or run sluice doctor"),
  });
});
