import { describe, expect, onTestFinished, test } from "vitest";
import { linked } from "../../src/features/linked/index.ts";
import { listen } from "../../src/deploy/process/node-listener.ts";
import { createApp } from "../../src/http/app.ts";
import { flow } from "../../src/http/flows/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { fetchMap, putMap } from "../../src/features/partitions/map-calls.ts";
import { spread, writeMap } from "../../src/features/partitions/map.ts";
import { ENQUEUE_TOKEN, targets, TOKEN, useCli } from "./rig.ts";

const rig = useCli();
const { sluice, onTerminal } = rig;

test("cancel cancels tasks, asks consumers to stop, and ends with 1 if one cannot be cancelled", async () => {
  await rig.queue().enqueueMany([
    { payload: 1, id: "working" },
    { payload: 1, id: "pending" },
  ]);
  await rig.queue().dequeue();
  const { code, text, err } = await onTerminal("cancel", "emails", "pending", "working", "nope");
  expect([code, err]).toEqual([
    1,
    "Cancel requested: its consumer learns of it within 15s, or when it next extends or settles. If the consumer is dead, the task ends when its lease expires.\n",
  ]);
  expect(text).toBe("ID       RESULT\npending  cancelled\nworking  cancel requested\nnope     not_found\n");
  expect(await sluice("cancel", "emails", "working")).toMatchObject({
    code: 0,
    out: '{"id":"working","ok":true,"result":"cancel requested"}\n',
  });
  await rig.queue().enqueue(1, { id: "another" });
  expect(await onTerminal("cancel", "emails", "another")).toMatchObject({ code: 0, err: "" });
});

test("partitions shows what each partition has, and changes their number", async () => {
  // Programs remember the partitions of a queue for a minute, so other tests use another one.
  await rig.queue("used").enqueue(1);
  expect(await sluice("partitions", "used", "2")).toMatchObject({
    code: 0,
    err: "",
    rows: [
      { partition: 0, slots: 128, pending: 1 },
      { partition: 1, slots: 128, pending: 0 },
    ],
  });
  expect((await onTerminal("partitions", "used", "1")).text).toMatch(
    /^PARTITION +SLOTS +PENDING +DELAYED +WORKING +DEAD\n +0 +256 +1 /,
  );
  expect((await sluice("partitions", "used")).rows[0]).toMatchObject({
    partition: 0,
    slots: 256,
    pending: 1,
  });
  // A change that has stopped.
  const place = { name: "used", prefix: undefined, transport: rig.queue()["transport"] };
  const map = await fetchMap(place);
  await putMap(place, map, writeMap({ ...map, version: map.version + 1, next: spread(map.owners, 3) }));
  expect((await sluice("partitions", "used")).err).toBe(
    "The change to 3 partitions is not complete. The next sweep completes it.\n",
  );
});

test("purge asks on a terminal what it would delete, and purges after y", async () => {
  const purge = (answer: string, ...args: string[]) =>
    rig.run(["purge", "emails", "--state", ...args], { terminal: true, answer });
  await rig.die(["a", "b"]);
  const question = "Purge all 2 dead letters of emails? [y/N] ";
  const nothing = "Nothing was purged.\n";
  for (const answer of ["n\n", "\n", "yess\n"])
    expect(await purge(answer, "rejected")).toMatchObject({ code: 0, out: "", err: question + nothing });
  // Ctrl-D.
  expect(await purge("", "rejected")).toMatchObject({ code: 0, err: `${question}\n${nothing}` });
  expect(await rig.queue().counts()).toMatchObject({ rejected: 2 });
  const limited = await purge("y\n", "rejected", "--limit", "1");
  expect(limited.err).toMatch(/^Purge at most 1 of all 2 dead letters of emails\? /);
  expect(limited.out).toBe("Purged 1 dead letter of emails.\n");
  expect((await purge("YES\n", "rejected")).code).toBe(0);
  expect(await rig.queue().counts()).toMatchObject({ rejected: 0 });
  // Redis does not count completed tasks.
  expect((await purge("y\n", "completed")).err).toMatch(/^Purge all completed tasks of emails\? /);
  expect((await purge("y\n", "delayed", "--group", "g")).err).toMatch(
    /^Purge the delayed tasks of emails that match\? /,
  );
  expect((await sluice("purge", "emails", "--state", "rejected", "--yes")).rows).toEqual([
    { queue: "emails", state: "rejected", purged: 0 },
  ]);
});

test("purge ends with 130 and purges nothing if Ctrl-C answers its question", async () => {
  await rig.die("a");
  const interrupt = new AbortController();
  const ended = rig.run(["purge", "emails", "--state", "rejected"], {
    terminal: true,
    answer: new Promise<string>(() => {}),
    interrupted: interrupt.signal,
    onError: (err) => err.includes("[y/N]") && interrupt.abort(),
  });
  expect(await ended).toMatchObject({ code: 130, out: "" });
  expect(await rig.queue().counts()).toMatchObject({ rejected: 1 });
});

test.each(
  `ls; dead; dead --limit 2; redrive; redrive --dry-run; redrive a; purge --state pending --yes; stats; stats --watch;
  groups; schedules; schedules --run a; schedules --pause a; workers; workers --fail a; workers --forget a; export; settings; partitions; tail;
  show a; cancel a; pause; resume; settings maxWorking=1; settings --group g weight=2; partitions 2; pull;
  pull --wait 1s; settle 1.1.1.unknown0.a --complete; delete --dry-run; delete --yes; sweep --deep --queue`.split(
    /;\s+/,
  ),
)("a misspelt queue is refused, and nothing is changed: sluice %s", async (line) => {
  await rig.queue("reports").enqueue(1);
  await rig.queue().enqueue(1);
  await rig.operator().configure({ events: true });
  const [command = "", ...more] = line.split(" ");
  const of = (queue: string) => (command === "sweep" ? [command, ...more, queue] : [command, queue, ...more]);
  const advice = /^(pause|settings .*=|partitions \d)/.test(line) ? " To create it: --new." : "";
  const before = await rig.raw(["DEBUG", "DIGEST"]);
  for (const target of targets)
    for (const terminal of [false, true]) {
      const { code, out, err } = await rig.to(target).run(of("emials"), { terminal });
      expect([code, out]).toEqual([1, ""]);
      const refusal = `sluice: there is no queue emials; did you mean emails?${advice} To list all: sluice queues\n`;
      expect(err.slice(-refusal.length)).toBe(refusal);
    }
  expect((await sluice(...of("zzz"))).err).toContain(
    `sluice: there is no queue zzz.${advice} To list all: sluice queues\n`,
  );
  expect(await rig.raw(["DEBUG", "DIGEST"])).toEqual(before);
});

test("of several queues none is paused if one is misspelt", async () => {
  await rig.queue().enqueue(1);
  expect(await sluice("pause", "emails", "emials")).toMatchObject({ code: 1, out: "" });
  expect(await rig.queue().counts()).toMatchObject({ paused: false });
});

test.each(targets)("a queue can be paused before its first task over %s", async (target) => {
  await rig.queue().enqueue(1);
  const { sluice: there } = rig.to(target);
  const name = target === "the database" ? "emails-1" : "emails-2";
  expect(await there("pause", "emails", name, "--new")).toMatchObject({
    code: 0,
    rows: [
      { queue: "emails", state: "paused" },
      { queue: name, state: "paused" },
    ],
    err: `${name} is a new queue; did you mean emails?\n`,
  });
  await rig.queue(name).enqueue(1);
  expect([...(await rig.queue(name).dequeue())]).toEqual([]);
  expect((await there("pause", name, "--new")).err).toBe("");
});

test.each(targets)(
  "queues and groups are paused for a time over %s, and shown with its end",
  async (target) => {
    await rig.queue().enqueue(1, { group: "g" });
    const there = rig.to(target);
    const { rows } = await there.sluice("pause", "emails", "--for", "1h");
    const { pausedUntil } = await rig.queue().counts();
    expect(rows).toEqual([{ queue: "emails", state: "paused", pausedUntil }]);
    await there.sluice("settings", "emails", "--group", "g", "paused=2h");
    expect(await rig.operator().groupSettings("g")).toMatchObject({ paused: true });
    const shown = async (...line: string[]) => (await there.run(line, { terminal: true })).out;
    const end = /paused until \d{4}-\d\d-\d\d \d\d:\d\d:\d\d/;
    for (const command of ["queues", "groups emails", "stats emails", "pause emails --for 1h"])
      expect(await shown(...command.split(" "))).toMatch(end);
    for (const command of ["settings emails", "settings emails --group g"])
      expect(await shown(...command.split(" "))).toMatch(/^paused +on until \d{4}-/m);
    await there.sluice("resume", "emails");
    expect(await shown("settings", "emails")).toMatch(/^paused +off$/m);
  },
);

test("settle of an empty pipe refuses a queue that does not exist", async () => {
  await rig.queue().enqueue(1);
  expect(await rig.piping("", "settle", "emials")).toMatchObject({
    code: 1,
    err: expect.stringContaining("there is no queue emials; did you mean emails?"),
  });
});

test("a queue that the registry has left out exists while anything of it is kept", async () => {
  await rig.operator("with-settings").pause();
  const task = await rig.queue("with-records").enqueue(1);
  await rig.queue("with-records").cancel(task.id);
  await rig.schedules().put("digest", { every: "1h", payload: 1 });
  await rig.raw(["DEL", "sluice:queues"]);
  for (const queue of ["with-settings", "with-records", "emails"])
    expect(await sluice("resume", queue)).toMatchObject({ code: 0, rows: [{ queue, state: "running" }] });
});

test("commands that may create a queue say that it is new", async () => {
  await rig.queue().enqueue(1);
  const isNew = (queue: string, meant = "; did you mean emails?") => `${queue} is a new queue${meant}\n`;
  expect((await sluice("enqueue", "emials", "1")).err).toBe(isNew("emials"));
  expect((await rig.piping("1\n", "enqueue", "emailss")).err).toBe(isNew("emailss"));
  // Programs remember for a minute that a queue is registered, also if Redis was emptied. No other test has these.
  expect((await rig.piping('{"payload":1}\n', "import", "invoices")).err).toBe(isNew("invoices", "."));
  const settings = await sluice("settings", "invoice", "maxWorking=1", "--new");
  expect(settings.err).toBe(isNew("invoice", "; did you mean invoices?"));
  expect((await sluice("partitions", "digests", "2", "--new")).err).toBe(isNew("digests", "."));
  for (const queue of ["emials", "emailss", "invoices"])
    expect((await sluice("enqueue", queue, "1")).err).not.toContain("new queue");
  // A token that may not list queues does not know.
  const env = { SLUICE_TOKEN: ENQUEUE_TOKEN };
  expect(await rig.run(["enqueue", "emails-2", "1"], { env })).toMatchObject({ code: 0, err: "" });
});

describe.each(targets)("delete over %s", (target) => {
  const run = (answer: string, ...args: string[]) => runOn("emails", answer, ...args);
  const runOn = (name: string, answer: string, ...args: string[]) =>
    rig.to(target).run(["delete", name, ...args], { terminal: true, answer });
  const empty = { pending: 0, delayed: 0, blocked: 0, working: 0, rejected: 0 };

  test("shows what it would delete, asks, and deletes all of the queue", async () => {
    await rig.die("dead");
    await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2, delay: "1h" }]);
    await rig.operator().configure({ maxWorking: 3 });
    await rig.schedules().put("digest", { every: "1h", payload: 1 });
    const all =
      "emails with 1 pending, 1 delayed and 0 working tasks, 1 dead letter, 1 schedule, its results and settings";
    const before = await rig.raw(["DEBUG", "DIGEST"]);
    expect((await run("", "--dry-run")).out).toBe(`Would delete ${all}. Nothing was changed.\n`);
    const asked = await run("n\n");
    expect(asked).toMatchObject({ code: 0, out: "", err: `Delete ${all}? [y/N] Nothing was deleted.\n` });
    expect(await rig.raw(["DEBUG", "DIGEST"])).toEqual(before);
    expect(await run("y\n")).toMatchObject({ code: 0, out: `Deleted ${all}.\n` });
    expect((await sluice("queues")).rows).toEqual([]);
    expect(await rig.queue().counts()).toMatchObject(empty);
    expect(await rig.schedules().list()).toMatchObject({ schedules: [] });
    expect((await sluice("delete", "emails", "--yes")).err).toMatch(/^sluice: there is no queue emails\./);
  });

  test("is refused while tasks are working, unless it is forced", async () => {
    await rig.queue().enqueue(1);
    const [task] = await rig.queue().dequeue();
    const before = await rig.raw(["DEBUG", "DIGEST"]);
    const refused = await run("", "--yes");
    expect([refused.code, refused.out, refused.err]).toEqual([
      1,
      "",
      "sluice: 1 task of emails is working: pause the queue and wait, or add --force\n",
    ]);
    expect(await rig.raw(["DEBUG", "DIGEST"])).toEqual(before);
    const { rows } = await rig.to(target).sluice("delete", "emails", "--yes", "--force");
    expect(rows).toEqual([{ queue: "emails", deleted: true, ...empty, working: 1, schedules: 0 }]);
    expect(await task?.complete()).toMatchObject({ ok: false });
  });

  test("is refused while tasks are blocked, unless it is forced", async () => {
    const queue = rig.queue();
    await flow({ ref: "a", queue, payload: 1 }, { ref: "b", queue, payload: 2, after: "a" });
    const { err } = await run("", "--yes");
    expect(err).toBe(
      "sluice: 1 task of emails waits for others of flows: cancel the flows, or add --force\n",
    );
    expect((await run("", "--yes", "--force")).out).toMatch(
      "emails with 1 blocked task of flows, 1 pending,",
    );
  });

  test("deletes all partitions", async () => {
    await rig.queue("wide", { partitions: 3 }).enqueueMany([1, 2, 3].map((payload) => ({ payload })));
    const { out } = await runOn("wide", "", "--yes");
    expect(out).toMatch(/^Deleted wide with 3 pending/);
    expect((await sluice("queues")).rows).toEqual([]);
  });
});

test("a deployment without routes for operators takes tasks, and refuses the others itself", async () => {
  const transport = resp(rig.redis.url);
  const app = createApp({ transport, tokens: [{ token: TOKEN, scopes: ["enqueue", "admin"], queues: "*" }] });
  const { port, stop } = await listen(async (request) => app.fetch(request), {
    port: 0,
    hostname: "127.0.0.1",
  });
  const env = { SLUICE_URL: `http://127.0.0.1:${port}` };
  expect(await rig.run(["enqueue", "emails", "1"], { env })).toMatchObject({ code: 0, err: "" });
  const { code, err } = await rig.run(["pause", "emails"], { env });
  expect([code, err]).toEqual([1, expect.stringMatching(/^sluice: This server has no routes for operators/)]);
  await stop();
  await transport.close();
});

test("pause and resume say which queues they have changed", async () => {
  for (const queue of ["emails", "reports"]) await rig.queue(queue).enqueue(1);
  expect((await sluice("pause", "emails", "reports")).rows).toEqual([
    { queue: "emails", state: "paused" },
    { queue: "reports", state: "paused" },
  ]);
  expect(await onTerminal("resume", "emails", "reports")).toMatchObject({
    code: 0,
    text: "QUEUE    STATE\nemails   running\nreports  running\n",
  });
});

test("settings shows those of a queue or a group in the form that it takes, also after a change", async () => {
  await rig.queue().enqueue(1);
  expect((await onTerminal("settings", "emails")).text).toMatch(
    /^paused +off\nmaxWorking +none\nrate +none\nmaxPending +none\nevents +off\nstatistics +off\norder +none\nonDead +continue\n$/,
  );
  const changes = ["rate=5/1500ms", "maxWorking=10", "maxPending=100", "events=on", "statistics=on"];
  expect((await onTerminal("settings", "emails", ...changes)).text).toMatch(
    /\nmaxWorking +10\nrate +5\/1500ms\nmaxPending +100\nevents +on\nstatistics +on\norder +none\nonDead +continue\n$/,
  );
  const { rows } = await sluice("settings", "emails", "maxWorking=none", "rate=7/2s", "events=off");
  expect(rows).toMatchObject([{ maxWorking: null, rate: { most: 7, per: 2_000 }, events: false }]);
  expect((await onTerminal("settings", "emails")).text).toMatch(/\nrate +7\/2s\n/);
  expect((await sluice("settings", "emails", "weight=3", "--group", "g")).rows).toMatchObject([
    { weight: 3 },
  ]);
  expect((await onTerminal("settings", "emails", "--group", "g")).text).toMatch(
    /^queue +emails\ngroup +g\n[^]*\nweight +3\n[^]*\norder +queue\nonDead +queue\n/,
  );
  const refused = await sluice("settings", "emails", "order=fifo");
  expect(refused.err).toMatch(/^sluice: order=fifo must be order=strict or order=none\n/);
});

test("groups --stopped lists the groups that dead letters have stopped, and skip lets them go on", async () => {
  expect((await onTerminal("groups", "emails", "--stopped")).code).toBe(1);
  await sluice("settings", "emails", "order=strict", "onDead=stop", "--new");
  const connection = resp(rig.redis.url);
  onTestFinished(() => connection.close());
  const queue = rig.queue("emails", { transport: linked(connection) });
  for (const group of ["a", "b"]) {
    await queue.enqueue(1, { id: `${group}1`, group });
    await (await queue.dequeue())[0]?.reject({ error: "no" });
  }
  expect(await onTerminal("groups", "emails", "--stopped")).toMatchObject({
    code: 0,
    text: "GROUP  STOPPED BY\na      a1\nb      b1\n",
    err: "A group goes on after: sluice redrive emails <id>, or sluice skip emails <id>\n",
  });
  expect((await onTerminal("queues")).text).toMatch(/ 2 stopped groups\n/);
  expect((await onTerminal("stats", "emails")).text).toMatch(/ {2}2 stopped groups\n/);
  expect((await onTerminal("doctor")).text).toMatch(/2 groups are stopped, by a dead letter each/);
  const skipped = await onTerminal("skip", "emails", "a1", "nope");
  expect(skipped).toMatchObject({ code: 1, text: "ID    RESULT\na1    skipped\nnope  not_found\n" });
  expect((await sluice("groups", "emails", "--stopped", "--limit", "1")).rows).toEqual([
    { group: "b", id: "b1" },
  ]);
  expect(await onTerminal("skip", "emails", "--group", "b")).toMatchObject({
    code: 0,
    text: "ID  RESULT\nb1  skipped\n",
  });
  expect(await onTerminal("skip", "emails", "--group", "b")).toMatchObject({
    code: 1,
    err: "sluice: no dead letter has stopped the group b of emails\n",
  });
  for (const wrong of [
    ["skip", "emails"],
    ["skip", "emails", "b1", "--group", "b"],
  ])
    expect((await onTerminal(...wrong)).err).toMatch("pass ids, or --group <group>");
});

test("a group that a dead letter has stopped goes on when it is redriven or purged", async () => {
  await sluice("settings", "emails", "order=strict", "onDead=stop", "--new");
  const connection = resp(rig.redis.url);
  onTestFinished(() => connection.close());
  const queue = rig.queue("emails", { transport: linked(connection) });
  await queue.enqueueMany(["a1", "a2", "b1", "b2"].map((id) => ({ payload: 1, id, group: id.slice(0, 1) })));
  for (const task of await queue.dequeue({ max: 2 })) await task.reject({ error: "no" });
  expect(await queue.dequeue({ max: 9 })).toHaveLength(0);
  expect((await sluice("redrive", "emails", "a1")).code).toBe(0);
  const purge = ["purge", "emails", "--state", "rejected", "--group", "b", "--yes"];
  expect((await onTerminal(...purge)).text).toBe("Purged 1 dead letter of emails.\n");
  const tasks = await queue.dequeue({ max: 9 });
  expect(tasks.map(({ id }) => id).toSorted()).toEqual(["a1", "b2"]);
});

test("settings of a group say which, and that it is unused: its name may be misspelt", async () => {
  await rig.queue().enqueue(1, { group: "maple-press" });
  const [group, text] = ["mapple-press", /^queue +emails\ngroup +mapple-press\npaused +off\n/];
  const unused = `No task of the group ${group} is pending or working, and it had no settings`;
  const err = `${unused}; did you mean maple-press?\n`;
  for (const changes of [[], ["maxWorking=none"], ["maxWorking=3"]]) {
    const settings = await onTerminal("settings", "emails", "--group", group, ...changes);
    expect(settings).toMatchObject({ code: 0, text: expect.stringMatching(text) as string, err });
  }
  // Now it has settings.
  expect((await onTerminal("settings", "emails", "--group", group)).err).toBe("");
  expect((await onTerminal("settings", "emails", "--group", "maple-press")).err).toBe("");
  const other = await sluice("settings", "emails", "--group", "zzz", "weight=2");
  expect(other.rows).toMatchObject([{ queue: "emails", group: "zzz", weight: 2 }]);
  expect(other.err).toBe("No task of the group zzz is pending or working, and it had no settings.\n");
});

test("sweep says what it did", async () => {
  await rig.queue("emails", { now: () => Date.now() - 1_000 }).enqueue(1, { delay: 1 });
  expect(await onTerminal("sweep")).toMatchObject({
    code: 0,
    text: "Swept 1 queue: 1 promoted, 0 reclaimed, 0 dead, 0 scheduled, 0 records expired.\n",
  });
  expect((await sluice("sweep")).rows).toMatchObject([{ queues: 1, promoted: 0, failed: [] }]);
});

test("sweep --deep says which faults it repaired", async () => {
  await rig.queue().enqueue(1, { id: "lost" });
  await rig.queue("reports").enqueue(1);
  await rig.raw(["DEL", "sluice:{emails}:pending"]);
  expect((await onTerminal("sweep", "--deep", "--queue", "reports")).text).toMatch(
    /^Checked \d+ entr(?:y|ies) of 1 queue: no fault\n$/,
  );
  const { code, text } = await onTerminal("sweep", "--deep");
  expect(code).toBe(0);
  expect(text).toMatch(/^Checked \d+ entries of 2 queues: repaired 1 fault\nemails: \w+ 1 \(lost\)\n$/);
  expect((await sluice("sweep", "--deep")).rows).toMatchObject([{ faults: [], failed: [] }]);
});
