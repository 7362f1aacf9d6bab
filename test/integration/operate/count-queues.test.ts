import { expect, test } from "vitest";
import { countQueues, Queue } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig({ checkInvariants: false });

test("countQueues counts several queues in one request; a fault of one does not fail the others", async () => {
  const { transport } = rig;
  const now = () => rig.now;
  await new Queue("a", { transport, now }).enqueueMany([{ payload: 1 }, { payload: 2 }]);
  const second = new Queue("b", { transport, now });
  await second.enqueue(1);
  await second.dequeue();
  await rig.command("SET", "sluice:{broken}:tasks", "not a hash");
  await rig.command("LPUSH", "sluice:{broken}:pending", "x");
  let requests = 0;
  const counted = {
    send: (...args: Parameters<typeof transport.send>) => (requests++, transport.send(...args)),
  };
  const counts = await countQueues(counted, ["b", "broken", "none", "a"], { now });
  // Two others read whether there is a map, and whether the key of another type is the marker of one to come.
  expect(requests).toBe(3);
  expect(counts).toEqual([
    await second.counts(),
    { queue: "broken", code: "redis_error" },
    await new Queue("none", { transport, now }).counts(),
    await new Queue("a", { transport, now }).counts(),
  ]);
  expect(await countQueues(counted, [])).toEqual([]);
  expect(requests).toBe(3);
});
