import { expect, test } from "vitest";
import { named } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();

test("get returns the payload on request, and the options that the task fixed", async () => {
  const queue = rig.queue();
  await queue.enqueueMany([
    { id: "plain", payload: { to: "a" } },
    { id: "bytes", payload: new Uint8Array([0, 255]), headers: { h: "ü" }, unique: "1d" },
    { id: "empty", payload: "" },
    { id: "later", payload: 0, delay: "1m", lease: "2s", maxAttempts: 1, resultTtl: 0, deadTtl: "1h" },
  ]);
  const read = async (id: string) => {
    const { payload, options } = (await queue.get(id, { payload: true })) ?? {};
    return [payload, options];
  };
  expect(await read("plain")).toEqual([{ to: "a" }, undefined]);
  expect(await read("bytes")).toEqual([new Uint8Array([0, 255]), { unique: 86_400_000 }]);
  expect(await read("empty")).toEqual(["", undefined]);
  const options = { lease: 2_000, maxAttempts: 1, resultTtl: 0, deadTtl: 3_600_000 };
  expect(await read("later")).toEqual([0, options]);
  expect(await queue.get("plain")).not.toHaveProperty("payload");
  expect((await queue.get("later"))?.options).toEqual(options);
  expect(await queue.get("nope", { payload: true })).toBeNull();
});

test("get returns the payload of a working task and a dead letter, not of a completed or cancelled task", async () => {
  const queue = rig.queue();
  const ids = ["done", "dead", "held", "gone"];
  await queue.enqueueMany(named(ids));
  const [done, dead] = await queue.dequeue({ max: 3 });
  await done?.complete();
  await dead?.reject("no");
  await queue.cancel("gone");
  const tasks = await Promise.all(ids.map((id) => queue.get(id, { payload: true })));
  expect(tasks.map((task) => task?.payload)).toEqual([undefined, "dead", "held", undefined]);
});
