import { beforeEach, describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { deepTools } from "../../support/deep.ts";
import { key, useRig } from "../../support/rig.ts";

// Damage of one kind at a time. After each test the rig checks every invariant.
const rig = useRig();
const { found } = deepTools(rig);
const open = () => rig.queue<number>({ transport: linked(rig.transport) });
const add = (...ids: string[]) =>
  open().enqueueMany(ids.map((id, i) => ({ payload: i, id, group: id.charAt(0) })));
const line = (group = "a") => rig.command("HGET", key("tasks"), `~o:${group}`);
const setLine = (text: string) => rig.command("HSET", key("tasks"), "~o:a", text);
/** The place in line of the first task behind the head. */
const FIRST = 2 ** 35 + 1;
const member = (id: string, place = FIRST, group = "a") =>
  `~${group} ${String(place).padStart(16, "0")} ${id}`;

/** Works on one task at a time until none is left, and returns the ids in order. */
async function inOrder(): Promise<string[]> {
  const ids: string[] = [];
  for (;;) {
    const tasks = await open().dequeue({ max: 10 });
    if (tasks.length === 0) return ids;
    ids.push(tasks.map(({ id }) => id).join(" "));
    for (const task of tasks) expect(await task.complete()).toMatchObject({ ok: true });
  }
}

beforeEach(async () => void (await rig.operator().configure({ order: "strict" })));

test("a queue with lines of all kinds is valid", async () => {
  await rig.operator().configure({ onDead: "stop" });
  await rig.operator().configureGroup("c", { maxWorking: 1 });
  await add("a1", "a2", "b1", "b2", "c1", "c2", "d1", "d2");
  await open().enqueue(1, { id: "b3", group: "b", priority: 4 });
  await open().enqueue(1, { id: "e1", group: "e", priority: 4 });
  const tasks = await open().dequeue({ max: 4 });
  await tasks[0]?.reject();
  await tasks[1]?.requeue({ delay: "1m" });
  await tasks[3]?.complete();
  expect(await found()).toEqual({});
});

describe("what a line says is corrected by its tasks", () => {
  test.each([
    ["too few", `1;1;0;1;;a1`],
    ["too many", `1;9;0;9;;a1`],
    ["a place that others have", `1;3;0;2;;a1`],
  ])("%s", async (_, text) => {
    await add("a1", "a2", "a3", "a4");
    await setLine(text);
    expect(await found()).toEqual({ group_wrong: ["a"] });
    await add("a5");
    expect(await inOrder()).toEqual(["a1", "a2", "a3", "a4", "a5"]);
  });

  test("places in front, too", async () => {
    await rig.operator().configure({ order: null });
    await add("a1", "a2", "a3", "b1");
    await rig.operator().configure({ order: "strict" });
    await open().dequeue({ max: 10 });
    await setLine("1;2;1;0;;a1");
    expect(await found()).toEqual({ group_wrong: ["a"] });
    expect(await line()).toBe("1;2;2;0;;a1");
  });

  test("unreadable, it is set aside", async () => {
    await add("a1", "a2", "a3");
    await setLine("1;nonsense");
    expect(await found()).toEqual({ record_broken: ["~o:a"], group_wrong: ["a"] });
    expect(await rig.command("HGET", key("tasks"), "~b:~o:a")).toBe("1;nonsense");
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });

  test("missing, it is counted", async () => {
    await add("a1", "a2", "a3", "b1", "b2");
    await rig.command("HDEL", key("tasks"), "~o:a");
    expect(await found()).toEqual({ group_wrong: ["a"] });
    expect(await inOrder()).toEqual(["a1 b1", "a2 b2", "a3"]);
  });

  test("of a queue that has no order, it is set aside", async () => {
    await rig.command("DEL", key("tasks"));
    await setLine("1;0;0;0;;a1");
    expect(await found()).toEqual({ record_broken: ["~o:a"] });
  });
});

describe("the next task follows a head", () => {
  test("that is gone", async () => {
    await add("a1", "a2", "a3");
    await open().dequeue();
    await rig.command("HDEL", key("tasks"), "a1", ".a1");
    expect(await found()).toEqual({ payload_missing: ["a1"], group_wrong: ["a"] });
    expect(await inOrder()).toEqual(["a2", "a3"]);
  });

  test.each([
    ["that is unknown", "1;2;0;2;;none"],
    ["that is of another group", "1;2;0;2;;b1"],
    ["that is in line itself", "1;2;0;2;;a3"],
  ])("%s, when its other tasks have ended", async (_, text) => {
    await add("a1", "a2", "a3", "b1");
    const tasks = await open().dequeue({ max: 2 });
    await setLine(text);
    expect(await found()).toEqual({ group_wrong: ["a"] });
    expect(await open().dequeue()).toHaveLength(0);
    for (const task of tasks) await task.complete();
    expect(await inOrder()).toEqual(["a2", "a3"]);
  });

  test("that has ended", async () => {
    await add("a1", "a2", "a3");
    const [first] = await open().dequeue();
    const before = await line();
    await first?.complete();
    await (await open().dequeue())[0]?.complete();
    await setLine(String(before).replace(/^1;\d+/, "1;0"));
    expect(await found()).toEqual({ group_wrong: ["a"] });
    expect(await inOrder()).toEqual(["a3"]);
  });
});

test("a line without a head that nothing moves goes on", async () => {
  await add("a1", "a2", "a3");
  await (await open().dequeue())[0]?.complete();
  // As if a2, which is the next one, had never been there.
  await rig.command("DEL", key("fair"));
  await rig.command("HDEL", key("tasks"), "a2", ".a2", "~g:a");
  await setLine("1;1;0;2;;");
  expect(await found()).toMatchObject({ group_wrong: ["a"] });
  expect(await inOrder()).toEqual(["a3"]);
});

describe("a task in line is in limited and in fair-by-group", () => {
  test("missing in fair-by-group", async () => {
    await add("a1", "a2", "a3");
    await rig.command("ZREM", key("fair-by-group"), member("a2"));
    expect(await found()).toEqual({ turn_wrong: ["a2"] });
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });

  test("missing in limited, each keeps its place", async () => {
    await add("a1", "a2", "a3", "a4");
    await rig.command("DEL", key("limited"));
    expect(await found()).toEqual({ turn_wrong: ["a2", "a3", "a4"], control_broken: ["~fair"] });
    expect(await inOrder()).toEqual(["a1", "a2", "a3", "a4"]);
  });

  test("missing in both, it goes to the back", async () => {
    await add("a1", "a2", "a3");
    await rig.command("ZREM", key("fair-by-group"), member("a2"));
    await rig.command("ZREM", key("limited"), "a2");
    expect(await found()).toEqual({
      place_missing: ["a2"],
      control_broken: ["~fair"],
      group_wrong: ["a"],
    });
    expect(await inOrder()).toEqual(["a1", "a3", "a2"]);
  });

  test("in fair-by-group at another place, of another group, or of no task", async () => {
    await add("a1", "a2", "b1");
    const wrong = [member("a2", FIRST + 7), member("b1"), member("none"), member("a2", FIRST, "b"), "~a"];
    for (const one of wrong) await rig.command("ZADD", key("fair-by-group"), "0", one);
    expect(await found()).toEqual({ turn_wrong: ["a2", "b1", "none", "~a"] });
    expect(await inOrder()).toEqual(["a1 b1", "a2"]);
  });

  test("in limited at no place of a line, it gets its place back", async () => {
    await add("a1", "a2", "a3");
    await rig.command("ZADD", key("limited"), "7.5", "a2");
    expect(await found()).toMatchObject({ wrong_place: ["a2"], turn_wrong: ["a2"] });
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });
});

describe("a task of a group in order has one place", () => {
  test("in line and in fair: it waits in line", async () => {
    await add("a1", "a2", "a3");
    await rig.command("ZADD", key("fair"), String(9 * 2 ** 49 + 99), "a2");
    expect(await found()).toMatchObject({ two_places: ["a2"] });
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });

  test("the head in line and in fair: it is ready", async () => {
    await add("a1", "a2", "a3");
    await rig.command("ZADD", key("limited"), String(FIRST), "a1");
    expect(await found()).toMatchObject({ two_places: ["a1"] });
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });

  test("in line and delayed, not due: it is delayed", async () => {
    await add("a1", "a2", "a3");
    await rig.command("ZADD", key("delayed"), `${rig.now + 60_000}.5`, "a2");
    expect(await found()).toMatchObject({ two_places: ["a2"] });
    expect(await inOrder()).toEqual(["a1", "a3"]);
    rig.now += 60_000;
    expect(await inOrder()).toEqual(["a2"]);
  });

  test("beside the head in fair: delivery puts it in line", async () => {
    await rig.operator().configure({ order: null });
    await add("a1", "a2", "a3");
    await rig.operator().configure({ order: "strict" });
    expect(await found()).toEqual({});
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });

  test("with a priority, its place among those without one is right", async () => {
    await open().enqueue(1, { id: "a1", group: "a", priority: 9 });
    await rig.operator().configureGroup("a", { maxWorking: 1 });
    await open().enqueue(1, { id: "a2", group: "a", priority: 7 });
    expect(await found()).toEqual({});
    expect(await inOrder()).toEqual(["a1", "a2"]);
  });
});

test("a group that is stopped by its only task is valid", async () => {
  await rig.operator().configure({ onDead: "stop" });
  await add("a1");
  await (await open().dequeue())[0]?.reject();
  expect(await found()).toEqual({});
});

describe("groups that are stopped", () => {
  const stopped = () => rig.operator().stoppedGroups();
  beforeEach(async () => {
    await rig.operator().configure({ onDead: "stop" });
    await add("a1", "a2", "b1", "b2");
    await (await open().dequeue())[0]?.reject();
  });

  test("one is listed again", async () => {
    await rig.command("ZREM", key("fair-by-group"), "~~a");
    expect(await found()).toEqual({ group_wrong: ["a"] });
    expect(await stopped()).toMatchObject({ total: 1, groups: [{ group: "a", id: "a1" }] });
  });

  test("one that goes on is not listed", async () => {
    await rig.command("ZADD", key("fair-by-group"), "0", "~~b", "0", "~~none");
    expect(await found()).toEqual({ turn_wrong: ["b", "none"] });
    expect(await stopped()).toMatchObject({ total: 1 });
  });

  test("one whose dead letter is gone goes on", async () => {
    await rig.command("HDEL", key("tasks"), "a1", ".a1");
    expect(await found()).toMatchObject({ group_wrong: ["a"] });
    expect(await stopped()).toMatchObject({ total: 0 });
    expect(await inOrder()).toEqual(["b1 a2", "b2"]);
  });

  test("one whose head is no dead letter goes on", async () => {
    await rig.command("HSET", key("tasks"), "~o:b", "1;1;0;1;s;b1");
    await rig.command("ZADD", key("fair-by-group"), "0", "~~b");
    expect(await found()).toEqual({ group_wrong: ["b"] });
    expect(await inOrder()).toEqual(["b1", "b2"]);
  });

  test("one whose line does not name the dead letter goes on", async () => {
    await setLine("1;1;0;1;;a1");
    expect(await found()).toEqual({ group_wrong: ["a"], turn_wrong: ["a"] });
    expect(await inOrder()).toEqual(["b1 a2", "b2"]);
  });
});

describe("settings", () => {
  test.each(["2;o=x", "2;d=2;o=1", "x"])(
    "of the queue, unreadable: groups with lines stay in order: %s",
    async (text) => {
      await add("a1", "a2", "a3");
      await rig.command("HSET", key("tasks"), "~set", text);
      expect(await found()).toEqual({ record_broken: ["~set"], control_broken: ["~set"] });
      expect(await rig.command("HGET", key("tasks"), "~b:~set")).toBe(text);
      expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
    },
  );

  test("of the queue, lost: groups with lines stay in order", async () => {
    await add("a1", "a2", "a3");
    await rig.command("HDEL", key("tasks"), "~set");
    expect(await found()).toEqual({ control_broken: ["~set"] });
    expect(await inOrder()).toEqual(["a1", "a2", "a3"]);
  });

  test("of the queue, lost: scores of no line give it no order", async () => {
    await rig.command("HDEL", key("tasks"), "~set");
    await rig.command("ZADD", key("limited"), "7", "a1");
    await rig.command("ZADD", key("fair-by-group"), "0", member("a1"));
    await found();
    expect(await rig.operator().settings()).toMatchObject({ order: null });
  });

  test.each(["2;o=x", "2;d=7;o=1"])("of a group, unreadable, are set aside: %s", async (text) => {
    await rig.command("HSET", key("tasks"), "~s:a", text);
    expect(await found()).toEqual({ record_broken: ["~s:a"] });
  });

  test("of a group, readable, are valid", async () => {
    await rig.operator().configureGroup("a", { order: "none", onDead: "stop", paused: true });
    expect(await found()).toEqual({});
    expect(await rig.operator().groupSettings("a")).toMatchObject({ order: "none", onDead: "stop" });
  });
});
