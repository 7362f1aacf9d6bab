// Python's enqueues with a key do what those of `withDebounce` do.
import { expect, test } from "vitest";
import { withDebounce } from "../../../src/features/debounce/index.ts";
import { useRig } from "../../support/rig.ts";
import { useBothClients } from "./both-clients.ts";

const both = useBothClients(useRig());
const keyed = (code: string) => both.python(`from keyed import Keyed\nkeyed = Keyed(queue)\n${code}`);
const outcomes = (calls: string) => keyed(`report([each.outcome for each in [${calls}]])`);
const answer = (call: string) => keyed(`report(${call})`);

test.each([0, 2])(
  "an enqueue with a key has the outcomes that it has in TypeScript, over %i partitions",
  async (count) => {
    if (count > 0) await both.resize(count);
    for (const [calls, expected] of [
      [
        '*(keyed.debounce(i, "d", 60_000, keep="all", group="g") for i in range(3))',
        "created appended appended",
      ],
      ['*(keyed.debounce(i, "l", 60_000, 90_000) for i in range(2))', "created replaced"],
      ['keyed.debounce(1, "l", 60_000, keep="first")', "dropped"],
      ['*(keyed.throttle(i, "t", 2, 60_000) for i in range(3))', "created created dropped"],
      ['keyed.throttle(3, "t", 2, 60_000, "delay")', "created"],
      [
        '*(keyed.singleton(i, "s", "waiting", then) for i, then in enumerate(("drop", "drop", "replace", "cancel")))',
        "created dropped replaced created",
      ],
      ['*(keyed.replace(i, "r", priority=i) for i in range(2))', "created replaced"],
    ] as const)
      expect([calls, (await outcomes(calls)).join(" ")]).toEqual([calls, expected]);
    // Python goes on with the keys of TypeScript.
    const queue = withDebounce(both.queueOf(count || 1));
    const task = await queue.enqueue(3, { debounce: { key: "d", wait: "1m", keep: "all" } });
    expect(task.outcome).toBe("appended");
    expect(await answer('keyed.debounce(4, "d", 60_000, keep="all")')).toEqual([task.id, "appended"]);
    expect(await queue.get(task.id, { payload: true })).toMatchObject({
      payload: [0, 1, 2, 3, 4],
      group: "g",
    });
    expect(await queue.get("r", { payload: true })).toMatchObject({ payload: 1 });
    expect(
      await answer('[keyed.forget("d"), keyed.forget("none"), keyed.debounce(5, "d", 1).outcome]'),
    ).toEqual([true, false, "created"]);
  },
);

test("a call whose answer was lost changes nothing again", async () => {
  const added = both.gateway.faults.add({ kind: "lose-reply" });
  expect(await outcomes('keyed.debounce(1, "d", 60_000, keep="all")')).toEqual(["created"]);
  const appended = both.gateway.faults.add({ kind: "lose-reply" });
  const [id, outcome] = await answer('keyed.debounce(2, "d", 60_000, keep="all")');
  expect([outcome, added.hits, appended.hits]).toEqual(["appended", 1, 1]);
  expect(await both.queue.get(id, { payload: true })).toMatchObject({ payload: [1, 2] });
});

test("options that exclude each other are refused", async () => {
  const codes = await keyed(`
codes = []
for call in (
    lambda: keyed.debounce(1, "d", 1, delay=1), lambda: keyed.debounce(b"", "d", 1, keep="all"),
    lambda: keyed.throttle(1, "t", 1, 1, "wait"), lambda: keyed.singleton(1, "s", "waiting", dedup=("k", 1)),
    lambda: keyed.replace(1, "a b"),
):
    try: codes.append(call())
    except SluiceError as error: codes.append(error.code)
report(codes)`);
  expect(codes).toEqual(Array(5).fill("bad_argument"));
});

test("a task stays that of its key if the partitions change", async () => {
  await both.resize(2);
  const calls = '*(keyed.debounce(i, f"d{i}", 60_000, keep="all") for i in range(4))';
  expect(await outcomes(calls)).toEqual(Array(4).fill("created"));
  expect(new Set((await both.partitionsOfIds()).values())).toEqual(new Set([1]));
  await both.resize(1);
  expect(await outcomes(calls)).toEqual(Array(4).fill("appended"));
});
