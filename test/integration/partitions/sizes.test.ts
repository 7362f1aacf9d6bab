import { tagged } from "../../support/key-space.ts";
import { expect, test } from "vitest";
import { queueDiagnostics } from "../../../src/queue/repair/diagnostics.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

const rig = useRig();

test("a queue with partitions, by its name, has the sizes of all its partitions", async () => {
  const tasks = Array.from({ length: 40 }, (_, i) => ({ payload: i, id: `t${i}` }));
  await rig.queue<number>({ partitions: 4 }).enqueueMany(tasks);
  const now = () => rig.now;
  const all = await queueDiagnostics(rig.transport, QUEUE, { now });
  const parts = await Promise.all(
    [0, 1, 2, 3]
      .map((partition) => `${QUEUE}/${partition}`)
      .map(async (name) => {
        return Number(await rig.command("MEMORY", "USAGE", `sluice:${tagged(name)}:tasks`, "SAMPLES", "0"));
      }),
  );
  expect(Math.min(...parts)).toBeGreaterThan(500);
  expect(all.bytes).toBeGreaterThanOrEqual(parts.reduce((sum, bytes) => sum + bytes, 0));
});
