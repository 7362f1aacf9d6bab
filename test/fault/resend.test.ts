import { afterEach, describe, expect, test, vi } from "vitest";
import type { LeasedTask } from "../../src/index.ts";
import { day, run, seen, sharedDay, togetherDay } from "../support/day.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

describe.each([
  ["a queue's day", day],
  ["a day of groups, limits, keys and workers", sharedDay],
  ["a day of calls that share requests", togetherDay],
])("%s comes out the same, answers and key space (law 5)", (_, scenario) => {
  test("with the reply to any one request lost and the request sent again", async () => {
    const expected = await run(rig, scenario);
    expect(expected.requests).toBeGreaterThan(scenario === togetherDay ? 5 : 20);
    for (let at = 0; at < expected.requests; at++) {
      const actual = await run(rig, scenario, { kind: "lost", at });
      expect({ at, ...actual }).toEqual({ at, ...expected });
    }
  });

  test("with the first copy of any one request running after any later request within the resend window", async () => {
    const expected = await run(rig, scenario);
    for (let at = 0; at < expected.requests; at++) {
      for (let after = at; after < expected.requests; after++) {
        const actual = await run(rig, scenario, { kind: "late", at, after });
        expect({ at, after, ...actual }).toEqual({ at, after, ...expected });
      }
    }
  });
});

describe("a dequeue sent again", () => {
  test("gets what is still leased under its token, and no more", async () => {
    const queue = rig.queue();
    await queue.enqueueMany(["a", "b", "c", "d"].map((id) => ({ id, payload: id })));
    const first = await queue.dequeue({ max: 3, token: "token-01", lease: 1_000 });
    await first[1]?.complete();
    const before = await rig.keySpace();
    const second = await queue.dequeue({ max: 3, token: "token-01", lease: 1_000 });
    expect(seen(second)).toEqual(seen([first[0], first[2]] as LeasedTask[]));
    expect(await rig.keySpace()).toEqual(before);
  });

  test("gets nothing of what was reclaimed and leased to another meanwhile", async () => {
    const queue = rig.queue();
    await queue.enqueue("a", { id: "a" });
    await queue.dequeue({ token: "token-01", lease: 1_000 });
    rig.now += 1_000;
    const [other] = await queue.dequeue({ token: "token-02", lease: 1_000 });
    expect(other?.attempt).toBe(2);
    expect(await queue.dequeue({ token: "token-01" })).toHaveLength(0);
  });

  test("by an idempotency key is the same call, and by another key another", async () => {
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const [one] = await queue.dequeue({ idempotencyKey: "k1" });
    const [same] = await queue.dequeue({ idempotencyKey: "k1" });
    const [two] = await queue.dequeue({ idempotencyKey: "k2" });
    expect([one?.receipt === same?.receipt, two?.payload]).toEqual([true, 2]);
  });
});
