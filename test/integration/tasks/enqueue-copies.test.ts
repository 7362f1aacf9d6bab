import { beforeEach, describe, expect, test } from "vitest";
import type { NewTask, Queue } from "../../../src/index.ts";
import { encrypting } from "../../support/encrypting.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));

type Task = NewTask<unknown>;

const reused = { code: "idempotency_key_reused", path: "idempotencyKey" };
const idempotencyKey = "key-1";

describe("an idempotency key with other tasks is refused and changes nothing (I3)", () => {
  const first: Task[] = [{ payload: "one" }];
  test.each<[string, Task[], Task[]]>([
    ["another payload", first, [{ payload: "other" }]],
    ["more tasks", first, [{ payload: "one" }, { payload: "two" }, { payload: "three" }]],
    ["fewer tasks", [{ payload: "one" }, { payload: "two" }], first],
    ["another option", first, [{ payload: "one", maxAttempts: 2 }]],
    ["another delay", first, [{ payload: "one", delay: 1 }]],
    ["a dedup key", first, [{ payload: "one", dedup: { key: "d", window: 1_000 } }]],
    ["another task under the same id", [{ payload: 1, id: "a" }], [{ payload: 2, id: "a" }]],
    ["`again`", [{ payload: 1, id: "a" }], [{ payload: 1, id: "a", again: true }]],
    [
      "an id beside one that stays",
      [{ payload: 1, id: "a" }, { payload: 2 }],
      [{ payload: 1, id: "b" }, { payload: 2 }],
    ],
    ["another group", first, [{ payload: "one", group: "g" }]],
  ])("%s", async (_, tasks, others) => {
    const created = await queue.enqueueMany(tasks, { idempotencyKey });
    const before = await rig.keySpace();
    await expect(queue.enqueueMany(others, { idempotencyKey })).rejects.toMatchObject(reused);
    expect(await rig.keySpace()).toEqual(before);
    expect(await queue.enqueueMany(tasks, { idempotencyKey })).toEqual(created);
  });

  test("but other queue options, other keys, and no key are accepted", async () => {
    const { created } = await rig.queue().enqueue(1, { idempotencyKey });
    expect(created).toBe(true);
    const again = await rig.queue({ lease: "1m", delay: "1s" }).enqueue(1, { idempotencyKey });
    expect(again.created).toBe(true);
    expect((await rig.queue().enqueue(2, { idempotencyKey: "key-2" })).created).toBe(true);
    expect((await rig.queue().enqueue(2)).created).toBe(true);
    expect((await rig.space()).pending).toHaveLength(3);
  });

  test("but encrypted payloads are not compared", async () => {
    const queue = rig.queue({ encryption: encrypting() });
    const first = await queue.enqueue({ secret: 1 }, { idempotencyKey });
    expect(await queue.enqueue({ secret: 1 }, { idempotencyKey })).toEqual(first);
    expect(await queue.enqueue({ secret: 2 }, { idempotencyKey })).toEqual(first);
    await expect(queue.enqueue({ secret: 1 }, { idempotencyKey, priority: 1 })).rejects.toMatchObject(reused);
    expect((await rig.space()).pending).toHaveLength(1);
  });
});
