import { expect, onTestFinished, test, vi } from "vitest";
import { targets, useCli } from "./rig.ts";

const rig = useCli();
const { sluice, onTerminal } = rig;

const LATEST = "x;touch${IFS}y";

test("queues lists all queues with their counts, in one request each for the names and the counts", async () => {
  await rig.queue("reports").enqueue(1, { delay: "1h" });
  await rig.queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
  await rig.queue().dequeue();
  await rig.die("d", "no", { queue: "dead", attempts: 2 });
  await rig.operator("dead").pause();
  const { code, rows } = await sluice("queues");
  expect(code).toBe(0);
  const shown = rows.map(({ name, counts: { pending, delayed, working, rejected, paused } }) => [
    name,
    [pending, delayed, working, rejected, paused],
  ]);
  expect(shown).toEqual([
    ["dead", [0, 0, 0, 1, true]],
    ["emails", [1, 0, 1, 0, false]],
    ["reports", [0, 1, 0, 0, false]],
  ]);
  for (const name of ["queues", "status"])
    expect((await sluice(name, "rep")).rows.map((queue) => queue.name)).toEqual(["reports"]);

  const { text } = await onTerminal("queues");
  const lines = text.split("\n");
  expect(lines[0]).toMatch(/^QUEUE +PENDING +DELAYED +WORKING +DEAD +AGE OF NEXT +STATE$/);
  expect(lines[1]).toMatch(/^dead +0 +0 +0 +1 +paused$/);
  expect(lines[2]).toMatch(/^emails +1 +0 +1 +0 +\d+m?s$/);
});

test("queues of an empty database says so", async () => {
  const { code, out, err } = await onTerminal("queues");
  expect([code, out, err]).toEqual([
    0,
    "",
    "There is no queue. A queue is listed after its first enqueue.\n",
  ]);
});

test("ls lists tasks of every state, and says if there are more than --limit of one", async () => {
  await rig.die("d", "HTTP 503");
  await rig.queue().enqueueMany([
    { payload: { n: 1 }, id: "a" },
    { payload: { n: 2 }, id: "b", group: "g" },
    { payload: { n: 3 }, id: "later", delay: "1h" },
  ]);
  const all = await sluice("ls", "emails", "--limit", "2");
  expect([all.err, all.rows]).toMatchObject([
    "",
    [
      { id: "a", state: "pending" },
      { id: "b", state: "pending", group: "g" },
      { id: "later", state: "delayed" },
      { id: "d", state: "rejected" },
    ],
  ]);
  const limited = await sluice("ls", "emails", "--limit", "1");
  expect(limited.rows).toHaveLength(3);
  expect(limited.err).toBe("There are more than 1 of a state: --limit <number> lists more.\n");
  await rig.queue().cancel("a");
  expect((await sluice("ls", "emails", "--state", "rejected")).rows).toMatchObject([
    { id: "d" },
    { id: "a", reason: "cancelled" },
  ]);
  expect((await onTerminal("ls", "emails")).text).toMatch(/\na +cancelled /);
  expect((await onTerminal("show", "emails", "a")).text).toMatch(/^a of emails: cancelled\n/);
  const { text } = await onTerminal("ls", "emails", "--state", "delayed", "--payloads");
  expect(text).toMatch(
    /^ID +STATE +NEXT +SINCE +DELIVERIES +PAYLOAD\nlater +delayed +due in \d+m.* +\S+ \S+ +0 +\{"n":3\}\n$/,
  );
});

test("ls says when a lease ends, and that a delayed task is overdue, and has room for its error", async () => {
  const queue = rig.queue("emails", { now: () => Date.now() - 3_600_000 });
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const [failed] = await queue.dequeue({ max: 2, lease: "1d" });
  await failed?.requeue({ error: new TypeError("fetch failed"), delay: "5m" });
  const { text } = await rig.run(["ls", "emails"], { terminal: true, columns: 80 });
  expect(text).toMatch(/^ID +STATE +NEXT .*ERROR\n\S+ +working +(?:lease )?ends in (?:22h 59m|23h)/);
  expect(text).toMatch(/\n\S+ +delayed +due 5\dm.* ago .*TypeError: fetch failed\n/);
});

test("the error that a command shows of a task finds it by --text", async () => {
  const taken = "an operator took it back from its worker";
  const shown = {
    lost: "the lease expired: crashed, hung, or too slow",
    taken,
    again: taken,
    final: "its consumer rejected it for good",
    spent: "its attempts are used up",
  };
  const tasks = Object.keys(shown).map((id) => ({ id, payload: 1, maxAttempts: id === "again" ? 2 : 1 }));
  await rig.queue().enqueueMany(tasks);
  await rig.queue().dequeue({ lease: 1 });
  await expect.poll(async () => (await sluice("sweep")).rows).toMatchObject([{ rejected: 1 }]);
  const [, , final, spent] = await rig.queue().dequeue({ max: 4, worker: { name: "w" } });
  await final?.reject();
  await spent?.requeue();
  await rig.operator().failWorker("w");
  const { text: list } = await onTerminal("ls", "emails");
  const { text: dead } = await onTerminal("dead", "emails");
  for (const [id, error] of Object.entries(shown)) {
    const line = new RegExp(`^${id} .* ${error}$`, "m");
    expect(list).toMatch(line);
    if (id !== "again") expect(dead).toMatch(line);
    expect((await sluice("ls", "emails", "--text", error)).rows).toContainEqual(
      expect.objectContaining({ id }),
    );
  }
  expect((await onTerminal("show", "emails", "again")).text).toContain(`attempt 1: ${taken}`);
  const dry = await onTerminal("redrive", "emails", "--text", "lease", "--dry-run");
  expect(dry.text).toMatch(/^ID .*\nlost .* the lease expired: crashed.*\n$/);
});

test("show shows history, the error of each attempt, options and payload; --mask and --no-payload hide", async () => {
  await rig.die(
    "one",
    { name: "Error", message: "HTTP 503" },
    { attempts: 2, payload: { to: "a@example.com", n: [1] } },
  );
  const { code, rows } = await sluice("show", "emails", "one");
  expect(code).toBe(0);
  expect(rows).toMatchObject([
    {
      id: "one",
      state: "rejected",
      reason: "attempts_exhausted",
      options: { maxAttempts: 2 },
      payload: { to: "a@example.com", n: [1] },
      errors: [
        { attempt: 1, error: "Error: HTTP 503" },
        { attempt: 2, error: "Error: HTTP 503" },
      ],
    },
  ]);
  expect((await sluice("show", "emails", "one", "--mask")).rows[0].payload).toEqual({
    to: "•••",
    n: ["•••"],
  });
  expect((await sluice("show", "emails", "one", "--no-payload")).rows[0]).not.toHaveProperty("payload");

  const { text } = await onTerminal("show", "emails", "one");
  expect(text).toMatch(/^one of emails: rejected: its attempts are used up\nenqueued /);
  expect(text).toContain("deliveries  2; charged attempts 2 of 2\n");
  expect(text).toMatch(/\nHistory\n(?:\S+ \S+ {2}(?:working|pending|rejected)\n){4}\nErrors of attempts\n/);
  expect(text).toMatch(/attempt 1: Error: HTTP 503\n\S+ \S+ {2}attempt 2: Error: HTTP 503\n/);
  expect(text).toContain('\nPayload\n{\n  "to": "a@example.com",\n');
});

test("show says of a cancelled task that is being worked on since when its consumer could know", async () => {
  await rig.queue().enqueue(1, { id: "hangs" });
  await rig.queue().dequeue();
  await rig.queue().cancel("hangs");
  expect((await onTerminal("show", "emails", "hangs")).text).toMatch(/\ncancel +requested \S+ ago[;,] /);
});

test("dead shows the causes, and the latest dead letters; without a queue, those that have some", async () => {
  for (const n of [1, 2, 3]) await rig.die(`a${n}`, { name: "Error", message: `HTTP 503 for 10${n}234` });
  await rig.die("b", "bad address");
  await rig.die("c", "HTTP 404", { queue: "reports" });
  expect((await sluice("dead")).rows).toEqual([
    { queue: "emails", dead: 4 },
    { queue: "reports", dead: 1 },
  ]);
  expect((await sluice("dead", "--text", "HTTP 503")).rows).toEqual([{ queue: "emails", dead: 3 }]);
  expect(await onTerminal("dead", "--text", "zzzz")).toMatchObject({
    text: "",
    err: "No dead letter matches.\n",
  });
  expect((await sluice("dead", "emails")).rows.map(({ id }) => id)).toEqual(["a1", "a2", "a3", "b"]);
  const { text, err } = await onTerminal("dead", "emails");
  expect(text).toMatch(/^4 dead letters of emails\n\nCOUNT +REASON +FIRST +LAST +ERROR\n/);
  expect(text).toMatch(
    /\n +3 {2}attempts_exhausted .* Error: HTTP 503 for …\n +1 {2}attempts_exhausted .* bad address\n/,
  );
  expect(text).toMatch(/\nID +DIED +DELIVERIES +ERROR\nb +\S+ \S+ +1 +bad address\na3 /);
  expect(err).toContain("sluice redrive emails --dry-run");
});

test("dead shows the latest of all partitions, and when each cause occurred first and last", async () => {
  let now = Date.UTC(2026, 0, 1);
  const queue = rig.queue("halves", { maxAttempts: 1, partitions: 2, now: () => now });
  // The task that died in the middle is in partition 1, the others in partition 0.
  for (const id of ["a{0}", "b{123456789}", "c{0}"]) {
    await queue.enqueue(1, { id });
    for (const task of await queue.dequeue()) await task.requeue({ error: "no" });
    now += 60_000;
  }
  for (const filter of [[], ["--until", String(now - 60_000)]]) {
    const died = ["a{0}", "b{123456789}", "c{0}"].slice(0, filter.length === 0 ? 3 : 2);
    const { rows } = await sluice("dead", "halves", "--limit", "2", ...filter);
    expect(rows.map(({ id }) => id)).toEqual(died.toReversed().slice(0, 2));
    const { text, err } = await onTerminal("dead", "halves", ...filter);
    const [first, last] = ["00:00", died.length === 3 ? "00:02" : "00:01"];
    expect(text).toMatch(
      new RegExp(` ${died.length} {2}attempts_exhausted {2}\\S+ ${first} {2}\\S+ ${last} `),
    );
    expect(err).toContain(`sluice show halves '${died.at(-1)}'`);
  }
});

test("dead counts all dead letters of many pages, and shows the latest, whose id it quotes", async () => {
  const ids = Array.from({ length: 2_001 }, (_, i) => (i === 2_000 ? LATEST : `t${i}`));
  for (let from = 0; from < ids.length; from += 1_000) await rig.die(ids.slice(from, from + 1_000));
  const { text, err } = await onTerminal("dead", "emails", "--limit", "1");
  expect(text).toMatch(
    /^2001 dead letters of emails\n\nCOUNT [^]*\n +2001 {2}attempts_exhausted [^]*\nx;touch\$\{IFS\}y /,
  );
  expect(err).toContain(`sluice show emails '${LATEST}'\n`);
  expect((await sluice("dead", "emails")).rows).toHaveLength(2_001);
  expect((await sluice("dead", "emails", "--limit", "1")).rows).toMatchObject([{ id: LATEST }]);
});

test("stats shows counts and events by the minute, and how to count them; --watch goes on until Ctrl-C", async () => {
  await rig.queue().enqueue(1);
  expect((await onTerminal("stats", "emails")).err).toContain("sluice settings emails statistics=on");
  await rig.operator().configure({ statistics: true });
  await rig.queue().enqueueMany([{ payload: 2 }, { payload: 3 }]);
  expect((await sluice("stats", "emails")).rows).toMatchObject([
    { queue: "emails", pending: 3, statistics: { on: true } },
  ]);
  const { text: shown } = await onTerminal("stats", "emails");
  expect(shown).toMatch(
    /^emails .*\n3 pending {2}0 delayed {2}0 working {2}0 dead {2}0 workers {2}age of next /,
  );
  // Before that minute, nothing was counted.
  expect(shown).toMatch(/MINUTE +ENQUEUED\n\d\d:\d\d +2\n/);

  const interrupt = new AbortController();
  const { code, rows } = await rig.run(["stats", "emails", "--watch", "100ms"], {
    interrupted: interrupt.signal,
    onOutput: (out) => out.split("\n").length > 3 && interrupt.abort(),
  });
  expect([code, rows.length >= 3]).toEqual([130, true]);
});

test("stats shows no minute before the first one that was counted, and means of those that are over", async () => {
  await rig.operator().configure({ statistics: true });
  const { err } = await onTerminal("stats", "emails");
  expect(err).toContain("No event was counted since the statistics were switched on.\n");
  const at = (minutes: number) => rig.queue("emails", { now: () => Date.now() - minutes * 60_000 });
  await at(3).enqueueMany(Array.from({ length: 6 }, () => ({ payload: 1 })));
  const { text } = await onTerminal("stats", "emails");
  expect(text.replaceAll(/\d\d:\d\d(?= )/g, "T")).toMatch(/\nMINUTE +ENQUEUED\nT +6\nT +0\nT +0\nT +0\n/);
  expect(text).toContain("\nper minute, mean of 3: enqueued 2.0\n");
  for (const [given, count] of [
    [[], 60],
    [["--minutes", "2"], 2],
  ] as const)
    expect((await sluice("stats", "emails", ...given)).rows[0].statistics.minutes).toHaveLength(count);
  const last = (await onTerminal("stats", "emails", "--minutes", "2")).text;
  expect(last.replaceAll(/\d\d:\d\d(?= )/g, "T")).toMatch(/\nMINUTE +ENQUEUED\nT +0\nT +0\n\n/);
});

test.each(targets)("with %s tail follows the events of queues until Ctrl-C", async (target) => {
  await rig.operator().configure({ events: true });
  const channels = () => rig.raw(["PUBSUB", "CHANNELS"]);
  // That of the test before ends after its command.
  await expect.poll(channels).toEqual([{ reply: [] }]);
  const interrupt = new AbortController();
  const ended = rig.to(target).run(["tail", "emails"], {
    interrupted: interrupt.signal,
    onOutput: (out) => out.includes('"completed"') && interrupt.abort(),
  });
  await expect.poll(channels).not.toEqual([{ reply: [] }]);
  await rig.queue().enqueue(1);
  const [task] = await rig.queue().dequeue();
  await task?.complete({ sent: 1 });
  const { code, rows } = await ended;
  expect(code).toBe(130);
  expect(rows.find(({ event }) => event === "completed")).toEqual({
    queue: "emails",
    event: "completed",
    at: expect.any(Number),
    ids: [task?.id],
    tasks: [{ id: task?.id, attempt: 1, result: { sent: 1 } }],
  });
});

test("groups lists those with pending tasks, their settings, and says if there are more", async () => {
  expect((await onTerminal("groups", "emails")).code).toBe(1);
  await rig.queue().enqueueMany(["a", "a", "b", "c"].map((group) => ({ payload: 1, group })));
  await rig.operator().configureGroup("b", { paused: true, rate: { most: 5, per: "1s" } });
  await rig.operator().configureGroup("of-no-task", { weight: 2 });
  const { text, err } = await onTerminal("groups", "emails");
  const rows = text.split("\n").map((line) => line.replaceAll(/ +/g, " "));
  expect([rows, err]).toEqual([
    ["GROUP READY WORKING LIMITED STATE RATE", "a 2 0 0", "b 1 0 0 paused 5/1s", "c 1 0 0", ""],
    "",
  ]);
  const limited = await sluice("groups", "emails", "--limit", "1");
  expect(limited.rows).toMatchObject([{ queue: "emails", group: "a", ready: 2 }]);
  expect(limited.err).toBe("There are more than 1: --limit <number> lists more.\n");
  await rig.queue("plain").enqueue(1);
  expect(await onTerminal("groups", "plain")).toMatchObject({
    code: 0,
    out: "",
    err: "No group of plain has pending tasks.\n",
  });
});

test("schedules lists them, also after it changed one", async () => {
  const schedules = rig.schedules();
  await schedules.put("digest", { cron: "0 9 * * 1", timeZone: "Europe/Berlin", payload: 1 });
  await schedules.put("beat", { every: "90s", payload: 2 });
  expect(await sluice("schedules", "emails", "--pause", "digets")).toMatchObject({
    code: 1,
    err: "sluice: emails has no schedule digets; did you mean digest?\n",
  });
  expect((await sluice("schedules", "emails", "--pause", "beat")).rows).toMatchObject([
    { name: "beat", every: 90_000, paused: true },
    { name: "digest", cron: "0 9 * * 1", paused: false },
  ]);
  const paused = await onTerminal("schedules", "emails");
  expect(paused.text).toMatch(
    /^NAME .* NEXT +PAUSED +LAST\nbeat +every 1m 30s +paused +\d{4}-\S+ \d\S+\ndigest /,
  );
  vi.stubEnv("TZ", "Asia/Tokyo");
  onTestFinished(() => void vi.unstubAllEnvs());
  const { text, err } = await onTerminal("schedules", "emails", "--resume", "beat");
  expect(err).toBe("beat: resumed.\nNEXT and LAST are in the time zone of this machine, Asia/Tokyo.\n");
  expect(text).toMatch(/\nbeat +every 1m 30s +\d{4}-.*\ndigest +0 9 \* \* 1 Europe\/Berlin /);
  expect((await sluice("schedules", "emails", "--remove", "digest")).rows).toMatchObject([{ name: "beat" }]);
});

test("schedules says how to watch a run, and what a pause has missed", async () => {
  const before = rig.schedules({ now: () => Date.now() - 3_600_000 });
  await before.put("hourly", { every: "50m", payload: 1, paused: true });
  const run = await onTerminal("schedules", "emails", "--run", "hourly");
  const [, id] = /^hourly: enqueued (hourly\.\d+)\. To watch it: sluice show emails \1/.exec(run.err) ?? [];
  expect((await sluice("show", "emails", id ?? "")).rows).toMatchObject([{ id, state: "pending" }]);
  const resumed = await onTerminal("schedules", "emails", "--resume", "hourly");
  expect(resumed.err).toContain(
    "hourly: resumed. 1 occurrence missed while paused, not made up: --run hourly enqueues one now.\n",
  );
  const again = await onTerminal("schedules", "emails", "--resume", "hourly");
  expect(again.err).toContain("hourly: resumed.\n");
});

test("find shows tasks of all queues that have a text, and where; and says what it could not search", async () => {
  await rig.die("a", "HTTP 503 for needle");
  await rig.queue("bills").enqueue({ to: "needle@example.com" }, { id: "b" });
  await rig.queue().enqueue(1, { id: "needle" });
  const { rows } = await sluice("find", "needle");
  expect(rows.map(({ queue, id, found }) => [queue, id, found])).toEqual([
    ["emails", "needle", "id"],
    ["bills", "b", "payload"],
    ["emails", "a", "error"],
  ]);
  const { text } = await onTerminal("find", "needle", "--queues", "bills");
  expect(text).toMatch(
    /^QUEUE +ID +STATE +SINCE +IN +TEXT\nbills +b +pending .* payload +{"to":"needle@example\.com"}\n$/,
  );
  expect((await onTerminal("find", "nothing")).text).toBe("");
  const more = await onTerminal("find", "needle", "--limit", "1");
  expect(more.err).toContain("There may be more");
});
