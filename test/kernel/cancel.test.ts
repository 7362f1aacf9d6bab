import { beforeEach, expect, test } from "vitest";
import type { Queue } from "../../src/index.ts";
import { ghostsOf } from "../support/key-space.ts";
import { named } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

test("a cancel that Redis refuses keeps the task in its place", async () => {
  await queue.enqueue("p", { id: "later", delay: "1h" });
  await queue.enqueue("p", { id: "grouped", group: "g" });
  const before = await rig.keySpace();
  await rig.command("ACL", "SETUSER", "default", "-hset");
  try {
    for (const id of ["later", "grouped"]) {
      await expect(queue.cancel(id)).rejects.toMatchObject({ code: "redis_unauthorized" });
    }
  } finally {
    await rig.command("ACL", "SETUSER", "default", "+@all");
  }
  expect(await rig.keySpace()).toEqual(before);
});

test("an id that is enqueued again with a delay, when its cancellation is forgotten, is delivered once, past its ghost", async () => {
  await queue.enqueueMany(named(["a", "b"]));
  await queue.cancel("a");
  expect(await queue.enqueue("early", { id: "a" })).toEqual({ id: "a", created: false });
  rig.now += 300_000;
  await rig.sweepOnce();
  expect(await queue.cancel("a")).toEqual({ ok: false, code: "not_found" });
  expect(await rig.operator().remove("a")).toEqual({ ok: false, code: "not_found" });
  const delivered = async () => (await queue.dequeue({ max: 5 })).map(({ payload }) => payload);
  await queue.enqueue("new", { id: "a", delay: 1_000 });
  // The hash may not grow while the dequeue drops the ghost, which is in front of b.
  const withGhost = (await rig.space()).tasks.get(".a") ?? "";
  expect(await delivered()).toEqual(["b"]);
  expect(ghostsOf(await rig.space())).toBe(0);
  expect(((await rig.space()).tasks.get(".a") ?? "").length).toBeLessThan(withGhost.length);
  rig.now += 1_000;
  expect(await delivered()).toEqual(["new"]);
});
