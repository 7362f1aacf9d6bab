import { beforeEach, describe, expect, test } from "vitest";
import type { Queue } from "../../src/index.ts";
import { newToken } from "../../src/kernel/names/ids.ts";
import { numbered } from "../support/new-tasks.ts";
import { recorded } from "../support/recorded.ts";
import { useRig } from "../support/rig.ts";

// What docs/guarantees.md does not promise, and the cost of it.
const rig = useRig();
let queue: Queue;
beforeEach(() => void (queue = rig.queue()));
const LEASE = 60_000;

/** The slot of a dequeue for at most 100 tasks, as lua/README.md specifies it. */
const slotOf = (token: string) =>
  Buffer.from(token.slice(-4)).reduce((hash, byte) => hash * 31 + byte, 0) % 1_024;

function tokenOfSlot(slot: number): string {
  for (;;) {
    const token = newToken();
    if (slotOf(token) === slot) return token;
  }
}

describe("a dequeue whose reply was lost", () => {
  test("and that is not sent again leaves unused leases until they expire, each with a charged attempt", async () => {
    await queue.enqueueMany(numbered(3));
    const lost = await queue.dequeue({ max: 3, lease: LEASE });
    rig.now += LEASE - 1;
    expect((await queue.dequeue({ max: 3 })).length).toBe(0);
    rig.now += 1;
    // After an expired lease a task travels in batches of a tenth of the size.
    const again = await queue.dequeue({ max: 30 });
    expect(again.map(({ id, attempt }) => [id, attempt])).toEqual(lost.map(({ id }) => [id, 2]));
    expect(await queue.get(lost[0]?.id ?? "")).toMatchObject({ attempt: 2, charged: 2 });
  });

  test("and whose slot another dequeue took leases other tasks when sent again; the first ones return when their lease expires", async () => {
    await queue.enqueueMany(numbered(3));
    const token = newToken();
    const [first] = await queue.dequeue({ token, lease: LEASE });
    const others = tokenOfSlot(slotOf(token));
    const [second] = await queue.dequeue({ token: others, lease: LEASE });

    const [copied] = await queue.dequeue({ token, lease: LEASE });
    expect(new Set([first?.id, second?.id, copied?.id]).size).toBe(3);
    await second?.complete();
    await copied?.complete();
    rig.now += LEASE;
    const [back, ...more] = await queue.dequeue({ max: 10 });
    expect([back?.id, back?.attempt, more]).toEqual([first?.id, 2, []]);
  });
});

test("a dequeue that found nothing and that the network runs again leases tasks for no consumer, until their leases expire", async () => {
  const { queue, requests } = recorded(rig);
  expect((await queue.dequeue({ lease: LEASE })).length).toBe(0);
  await queue.enqueue("work", { id: "a" });
  // The same request, which the transport did not send.
  await rig.transport.send(requests[0] ?? []);
  rig.now += LEASE - 1;
  expect((await queue.dequeue()).length).toBe(0);
  rig.now += 1;
  const [back] = await queue.dequeue();
  expect([back?.id, back?.attempt]).toEqual(["a", 2]);
});

test("a clock that jumps forward ends a lease early, and its holder is fenced off (I2)", async () => {
  await queue.enqueue("work", { id: "a" });
  const [early] = await queue.dequeue({ lease: "1h" });
  rig.now += 86_400_000;
  const [next] = await queue.dequeue({ lease: "1h" });
  expect([next?.id, next?.attempt]).toEqual(["a", 2]);
  expect(await early?.complete("early")).toMatchObject({ ok: false, code: "lease_lost" });
  expect(await next?.complete("next")).toMatchObject({ ok: true });
  expect(await queue.get("a")).toMatchObject({ state: "completed", result: "next" });
});

test("a rate allows a steady stream at least ten elevenths of it", async () => {
  await rig.operator().configure({ rate: { most: 10, per: "1s" } });
  await queue.enqueueMany(numbered(300));
  let given = 0;
  // Twenty times eleven tenths of the period.
  for (const end = rig.now + 22_000; rig.now < end; rig.now += 25)
    given += (await queue.dequeue({ max: 10 })).length;
  expect(given).toBeGreaterThanOrEqual(200);
  expect(given).toBeLessThanOrEqual(220);
});
