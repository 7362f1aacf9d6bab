import { expect, test } from "vitest";
import { useCli } from "./rig.ts";

const rig = useCli();
const { sluice, onTerminal } = rig;

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `t${i}`);
const statesOf = (...ids: string[]) => Promise.all(ids.map(async (id) => (await rig.queue().get(id))?.state));

test("redrive leaves what a consumer rejected for good, and says so, until it is asked for", async () => {
  const error = { name: "Error", message: "HTTP 503" };
  await rig.die("fails", error);
  await rig.die("hopeless", "bad address", { rejected: true });
  const dry = await onTerminal("redrive", "emails", "--dry-run");
  expect(dry.text).toMatch(
    /^ID +DIED +REASON +ERROR\nfails +[\d: -]+ +attempts_exhausted +Error: HTTP 503\n$/,
  );
  const stays = "1 dead letter that a consumer rejected for good stays; --rejected takes it too.\n";
  const lines = dry.err.split(/(?<=\n)/);
  expect([dry.code, ...lines]).toEqual([
    0,
    "1 dead letter would be redriven. Nothing was changed.\n",
    expect.stringMatching(
      /^The last of them died (just now|\d+.* ago): if the cause is not fixed, they die again\.\n$/,
    ),
    stays,
  ]);
  expect(await statesOf("fails", "hopeless")).toEqual(["rejected", "rejected"]);
  expect((await sluice("redrive", "emails", "--dry-run")).rows).toEqual([
    { id: "fails", endedAt: expect.any(Number), reason: "attempts_exhausted", error },
  ]);

  expect(await onTerminal("redrive", "emails")).toMatchObject({
    code: 0,
    out: "Redrove 1 dead letter of emails.\n",
    err: expect.stringContaining(stays),
  });
  expect(await statesOf("fails", "hopeless")).toEqual(["pending", "rejected"]);
  expect((await sluice("redrive", "emails", "--rejected")).rows).toEqual([{ queue: "emails", redriven: 1 }]);
  expect(await statesOf("hopeless")).toEqual(["pending"]);
});

test("redrive --dry-run warns of no cause that ended long ago", async () => {
  const queue = rig.queue("emails", { now: () => Date.now() - 360_000 });
  await queue.enqueue(1, { maxAttempts: 1 });
  for (const task of await queue.dequeue()) await task.reject("no");
  expect((await onTerminal("redrive", "emails", "--rejected", "--dry-run")).err).toBe(
    "1 dead letter would be redriven. Nothing was changed.\n",
  );
});

test("redrive --rate says for how long it spreads them", async () => {
  await rig.die(numbered(5));
  expect((await onTerminal("redrive", "emails", "--rate", "0.5")).out).toBe(
    "Redrove 5 dead letters of emails. They become pending within 8s.\n",
  );
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
});

test("redrive takes more ids than one request", async () => {
  await rig.queue().enqueue(1);
  const ids = numbered(1_001);
  const { code, rows } = await sluice("redrive", "emails", ...ids);
  expect([code, rows[0].redriven, rows[0].refused.length]).toEqual([1, 0, 1_001]);
  expect((await sluice("redrive", "emails", "--rate", "1", ...ids)).code).toBe(2);
});

test("a dry run reports records that it cannot read, and ends with 1", async () => {
  await rig.die("a");
  await rig.raw(["HSET", "sluice:{emails}:tasks", "a", "9;unknown"]);
  expect(await sluice("redrive", "emails", "--dry-run")).toMatchObject({
    code: 1,
    out: "",
    err: expect.stringContaining("1 task cannot be read: update sluice-queue, or run sluice doctor"),
  });
});
