import { beforeEach, describe, expect, test } from "vitest";
import type { Queue, Transport } from "../../../src/index.ts";
import { callOf } from "../../../src/queue/redis/binding.ts";
import { queueKeys } from "../../../src/queue/core/keys.ts";
import { dequeueScript } from "../../../src/queue/redis/task-scripts.ts";
import { many } from "../../support/new-tasks.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

/** Enqueues tasks `t0` to `t<count - 1>`, and cancels the first of them. */
async function enqueueAndCancel(count: number, cancelled: number): Promise<void> {
  const ids = Array.from({ length: count }, (_, i) => `t${i}`);
  for (let first = 0; first < count; first += 1_000) {
    await queue.enqueueMany(ids.slice(first, first + 1_000).map((id) => ({ id, payload: id })));
  }
  await Promise.all(ids.slice(0, cancelled).map((id) => queue.cancel(id)));
}

describe("a dequeue continues behind entries that are not deliverable", () => {
  test("in calls of the script that each skip between 200 and 400 (law 7)", async () => {
    await enqueueAndCancel(700, 600);
    const args = { testNow: String(rig.now), maxTasks: "1", lease: "1000", token: "token-01", resend: "1" };
    const call = callOf(dequeueScript, queueKeys(QUEUE), { ...args, maxBytes: "1000", worker: "", info: "" });
    const left: number[] = [];
    for (const reply of [
      ["more", START],
      ["more", START],
      ["ok", START, "t600"],
    ]) {
      const [outcome] = await rig.transport.send([call]);
      expect(outcome && "reply" in outcome && (outcome.reply as unknown[]).slice(0, 3)).toEqual(reply);
      left.push((await rig.space()).pending.length);
    }
    const passed = [700 - (left[0] ?? 0), (left[0] ?? 0) - (left[1] ?? 0)];
    expect(passed.map((count) => count >= 200 && count < 400)).toEqual([true, true]);
    expect(left[2]).toBe(99);
  });

  test("for 50 calls at most, and its token stays unused", async () => {
    let calls = 0;
    const ghostly: Transport = {
      send: async (commands, options) => {
        if (++calls > 55) return rig.transport.send(commands, options);
        return [{ reply: ["more", rig.now] }];
      },
    };
    await queue.enqueue("there");
    const none = await rig.queue({ transport: ghostly }).dequeue({ token: "token-02" });
    expect([none.length, none.nextDueAt, calls]).toEqual([0, START, 50]);
    expect(await queue.dequeue({ token: "token-02" })).toHaveLength(1);
  });
});

test("a dequeue over the backlog of newly limited groups returns the tasks behind it", async () => {
  for (const group of ["a", "a", "b", "b"]) await queue.enqueueMany(many(1_000, { group }));
  for (const group of ["a", "b"]) await rig.operator().configureGroup(group, { maxWorking: 1 });
  expect((await queue.dequeue({ max: 2 })).map(({ group }) => group)).toEqual(["a", "b"]);
  await queue.enqueue("last", { group: "c" });
  await queue.enqueue("lowest", { group: "d" });
  expect((await queue.dequeue({ max: 2 })).map(({ payload }) => payload)).toEqual(["last", "lowest"]);
});
