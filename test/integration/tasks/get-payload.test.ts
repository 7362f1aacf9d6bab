import { expect, test } from "vitest";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

test("get returns the payload on request, and the options that the task fixed", async () => {
  const queue = rig.queue();
  const bytes = new Uint8Array([0, 255]);
  await queue.enqueueMany([
    { id: "plain", payload: { to: "a" } },
    { id: "bytes", payload: bytes, headers: { h: "ü" }, unique: "1d" },
    { id: "empty", payload: "" },
    { id: "later", payload: 0, delay: "1m", lease: "2s", maxAttempts: 1, resultTtl: 0, deadTtl: "1h" },
  ]);
  const payloadOf = async (id: string) => (await queue.get(id, { payload: true }))?.payload;
  expect(await payloadOf("plain")).toEqual({ to: "a" });
  expect(await payloadOf("bytes")).toEqual(bytes);
  expect(await payloadOf("empty")).toBe("");
  expect(await payloadOf("later")).toBe(0);
  expect(await queue.get("plain")).not.toHaveProperty("payload");
  expect(await queue.get("plain")).not.toHaveProperty("options");
  expect((await queue.get("bytes"))?.options).toEqual({ unique: 86_400_000 });
  expect((await queue.get("later"))?.options).toEqual({
    lease: 2_000,
    maxAttempts: 1,
    resultTtl: 0,
    deadTtl: 3_600_000,
  });
  expect(await queue.get("nope", { payload: true })).toBeNull();
});

test("get returns the payload of a working task and a dead letter, not of a completed or cancelled task", async () => {
  const queue = rig.queue();
  await queue.enqueueMany(["done", "dead", "held", "gone"].map((id) => ({ id, payload: id })));
  const [done, dead] = await queue.dequeue({ max: 3 });
  await done?.complete();
  await dead?.reject("no");
  await queue.cancel("gone");
  const payloads = await Promise.all(
    ["done", "dead", "held", "gone"].map(async (id) => (await queue.get(id, { payload: true }))?.payload),
  );
  expect(payloads).toEqual([undefined, "dead", "held", undefined]);
});

test("get refuses unknown options", async () => {
  await expect(rig.queue().get("a", { payloads: true } as object)).rejects.toThrow(
    "payloads is an unknown option",
  );
  await expect(rig.queue().get("a", { payload: 1 } as object)).rejects.toThrow(
    "payload must be true or false",
  );
});
