import { expect, test } from "vitest";
import { targets, useCli } from "./rig.ts";

const rig = useCli();
const { sluice, onTerminal } = rig;

test("workers lists them with their tasks, and takes the tasks of one back, whatever its name", async () => {
  const name = "a/../b%2F?c;#";
  await rig.queue().enqueueMany([
    { payload: 1, id: "a" },
    { payload: 2, id: "b" },
  ]);
  await rig.queue().dequeue({ max: 2, worker: { name, node: "host-1" } });
  expect((await sluice("workers", "emails")).rows).toMatchObject([
    { name, node: "host-1", working: 2, tasks: ["a", "b"] },
  ]);
  const failed = await sluice("workers", "emails", "--fail", name);
  expect(failed.rows).toEqual([{ queue: "emails", worker: name, returned: 2, rejected: 0 }]);
  expect(failed.err).toBe(
    "If its process still runs, restart it: a handler that hangs goes on, and what it settles is refused. Until it takes a task, at most for an hour, sluice doctor names it; if it has ended, --forget ends that.\n",
  );
  expect((await sluice("workers", "emails")).rows).toMatchObject([
    { name, node: "host-1", working: 0, state: "gone", seenAt: null, failedAt: expect.any(Number) },
  ]);
  expect((await onTerminal("workers", "emails")).text).toMatch(/ failed \d\d-\d\d \d\d:\d\d /);
  expect((await sluice("workers", "emails", "--forget", name)).rows).toEqual([
    { queue: "emails", worker: name, forgotten: true },
  ]);
  expect((await sluice("workers", "emails")).rows).toEqual([]);
});

test("workers --fail says of a worker without tasks that it had none, or that they were taken back before", async () => {
  const fail = () => onTerminal("workers", "emails", "--fail", "web");
  await rig.queue().enqueue(1);
  await rig.queue().heartbeat({ name: "web" });
  expect(await fail()).toMatchObject({
    code: 0,
    text: "web had no tasks. It is off the list of emails until its next sign of life.\n",
    err: "",
  });
  expect((await onTerminal("doctor")).text).not.toContain("web");
  expect((await fail()).err).toContain(
    "emails has no worker web; perhaps its tasks were taken back already.",
  );
  await rig.queue().dequeue({ worker: { name: "web" } });
  expect((await fail()).text).toBe("Took the tasks of web back: 1 pending, 0 rejected.\n");
  expect(await fail()).toMatchObject({ text: "web has no tasks: they were taken back before.\n", err: "" });
  expect((await onTerminal("doctor")).text).toContain("web");
  expect(await onTerminal("workers", "emails", "--forget", "web")).toMatchObject({ code: 0, err: "" });
});

test.each(targets)("workers --forget takes one that has ended off the list, over %s", async (target) => {
  const { run, onTerminal: shown } = rig.to(target);
  await rig.queue().enqueue(1, { id: "a" });
  for (const incarnation of ["1", "2"]) await rig.queue().dequeue({ worker: { name: "web", incarnation } });
  await rig.queue().heartbeat({ name: "mailer-1" });
  const names = async () =>
    (await rig.operator().workers()).workers.map(({ name, incarnation }) => [name, incarnation]);
  expect(await shown("workers", "emails", "--forget", "mialer-1")).toMatchObject({
    code: 1,
    out: "",
    err: "sluice: emails has no worker mialer-1; did you mean mailer-1? To list all: sluice workers emails --all\n",
  });
  // Another worker, and not a misspelt one.
  expect((await shown("workers", "emails", "--forget", "mailer-2")).err).not.toContain("did you mean");
  expect(await shown("workers", "emails", "--forget", "other")).toMatchObject({
    code: 1,
    err: "sluice: emails has no worker other; perhaps it left the list already. To list all: sluice workers emails --all\n",
  });
  expect(await shown("workers", "emails", "--forget", "mailer-1")).toMatchObject({
    code: 0,
    text: "Took mailer-1 off the list of emails.\n",
    err: expect.stringMatching(
      /^It was seen \S+ ago\. If it lives, it comes back with its next sign of life\.\n$/,
    ) as string,
  });
  // Only the process of this name that has no task.
  expect(await shown("workers", "emails", "--forget", "web")).toMatchObject({ code: 0 });
  expect(await names()).toEqual([["web", "1"]]);
  const before = await rig.raw(["DEBUG", "DIGEST"]);
  expect(await shown("workers", "emails", "--forget", "web")).toMatchObject({
    code: 1,
    out: "",
    err: "sluice: web has 1 task; only a worker without tasks can be forgotten. If it is dead, take them back: sluice workers emails --fail web\n",
  });
  expect(await rig.raw(["DEBUG", "DIGEST"])).toEqual(before);
  expect(await run(["workers", "emails", "--forget", "web", "--fail", "web"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("--forget must not be given with --fail"),
  });
});

test("workers says which are idle or gone, and how long others have shown no sign of life", async () => {
  const now = Date.now();
  await rig.queue().enqueueMany(["dead", "silent", "alive"].map((id) => ({ payload: 1, id })));
  const from = (minutes: number) => rig.queue("emails", { now: () => now - minutes * 60_000 });
  await from(12).dequeue({ worker: { name: "dead" } });
  await from(12).dequeue({ worker: { name: "silent", silentAfter: "1m" } });
  await rig.queue().dequeue({ worker: { name: "alive" } });
  await from(12).dequeue({ worker: { name: "function" } });
  await from(12).heartbeat({ name: "web-1:1", goneAfter: "150s" });
  await from(1).heartbeat({ name: "web-1:2", goneAfter: "150s" });
  const { text } = await onTerminal("workers", "emails");
  const states = text.split("\n").map((line) => line.split(/ {2,}/).slice(0, 2));
  const sorted = states.slice(1, -1).map((cells) => cells.join(" "));
  expect(sorted[0]).toMatch(/^alive /);
  expect(sorted.toSorted((one, other) => (one < other ? -1 : 1))).toEqual([
    expect.stringMatching(/^alive \d{4}-/),
    "dead unseen 12m",
    "function unseen 12m",
    "silent gone 12m",
    "web-1:1 gone 12m",
    "web-1:2 idle",
  ]);
});

test("workers lists the last seen first, and of those without tasks and sign of life five, or all", async () => {
  const now = Date.now();
  for (let minutes = 20; minutes > 10; minutes--)
    await rig
      .queue("emails", { now: () => now - minutes * 60_000 })
      .dequeue({ worker: { name: `web-1:${minutes}` } });
  await rig.queue().enqueue(1);
  await rig
    .queue("emails", { now: () => now - 30 * 60_000 })
    .dequeue({ lease: "1h", worker: { name: "holds" } });
  await rig.queue().dequeue({ worker: { name: "web-1:0" } });
  const names = (text: string) =>
    text.split("\n").flatMap((line) => /^(web-1:\d+|holds) /.exec(line)?.[1] ?? []);
  const dead = Array.from({ length: 10 }, (_, i) => `web-1:${i + 11}`);
  const few = await onTerminal("workers", "emails");
  expect(names(few.text)).toEqual(["web-1:0", ...dead.slice(0, 5), "holds"]);
  expect(few.err).toBe("And 5 more, without tasks and a sign of life: --all.\n");
  const all = await onTerminal("workers", "emails", "--all");
  expect([names(all.text), all.err]).toEqual([["web-1:0", ...dead, "holds"], ""]);
  expect((await sluice("workers", "emails")).rows.map(({ name }) => name)).toEqual(names(all.text));
});
