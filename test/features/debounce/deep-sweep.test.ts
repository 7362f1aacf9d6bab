import { expect, test } from "vitest";
import { deepSweep } from "../../../src/index.ts";
import { key, useRig } from "../../support/rig.ts";
import { useKeyed } from "./keyed-queue.ts";

const rig = useRig();
const { queue, payloads } = useKeyed(rig);
const repair = () => deepSweep(rig.transport, { now: () => rig.now });

test("a deep sweep finds nothing wrong in what enqueues with keys leave", async () => {
  const singleton = { key: "s", while: "waiting", then: "cancel" } as const;
  for (const group of [undefined, "a", "b"]) {
    await queue().enqueue(1, { debounce: { key: "d", wait: "5s" }, group });
    await queue().enqueue(2, { singleton, group });
    await queue().enqueue(3, { id: "x", replace: true, group });
  }
  expect(await repair()).toMatchObject({ faults: [], failed: [] });
  rig.now += 5_000;
  expect((await payloads()).toSorted((one, other) => Number(one) - Number(other))).toEqual([1, 2, 3]);
});

test("a key that is in no line to be removed gets into it", async () => {
  await queue().enqueue(1, { singleton: { key: "s", while: "waiting" } });
  await rig.command("ZREM", key("expiry"), "~S:s");
  const { faults } = await repair();
  expect(faults).toMatchObject([{ fault: "expiry_missing" }]);
  rig.now += 8 * 86_400_000;
  await rig.sweepOnce();
  expect((await rig.space()).tasks.has("~S:s")).toBe(false);
});
