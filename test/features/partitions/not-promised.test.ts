import { expect, test } from "vitest";
import { newToken } from "../../../src/kernel/names/ids.ts";
import { digitOf, slotOf } from "../../../src/kernel/names/slots.ts";
import { instances } from "../../support/instances.ts";
import { recorded } from "../../support/recorded.ts";
import { useRig } from "../../support/rig.ts";

// What docs/guarantees.md does not promise for queues with partitions, and the cost of it.
const rig = useRig();
const { queueOf, keysIn, resize } = instances(rig);
const LEASE = 60_000;

/** The first text of some that has what is wanted. */
function firstOf(make: (i: number) => string, isWanted: (text: string) => boolean): string {
  for (let i = 0; ; i++) {
    const text = make(i);
    if (isWanted(text)) return text;
  }
}

test("a late copy of a waiting dequeue, to a partition in which it found nothing, leases tasks for no consumer", async () => {
  await resize(2);
  const [first, second] = [0, 1].map((partition) =>
    // Of two partitions each owns half of the 256 slots.
    firstOf(
      (i) => `task-${i}`,
      (id) => Math.floor(slotOf(id) / 128) === partition,
    ),
  );
  await queueOf().enqueue("work", { id: second });
  const token = firstOf(newToken, (text) => slotOf(text + digitOf(0)) < slotOf(text + digitOf(1)));
  const consumer = recorded(rig);
  const [task] = await consumer.queue.dequeue({ token, wait: "1m", lease: LEASE });
  expect(task?.id).toBe(second);
  await task?.complete();

  await queueOf().enqueue("work", { id: first });
  const { pending } = keysIn(0);
  const calls = consumer.requests.flat().filter((command) => "script" in command);
  const copy = calls.filter(({ script, keys }) => script.name === "dequeue" && keys.includes(pending));
  expect(copy.length).toBe(1);
  await rig.transport.send(copy);
  rig.now += LEASE - 1;
  expect((await queueOf().dequeue()).length).toBe(0);
  rig.now += 1;
  const [back] = await queueOf().dequeue();
  expect([back?.id, back?.attempt]).toEqual([first, 2]);
});
