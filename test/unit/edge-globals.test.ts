// Edge functions of Next.js have `process.nextTick` and `setImmediate`, which throw when they are called.

import { afterEach, expect, test, vi } from "vitest";
import { Alarm } from "../../src/drain/alarm.ts";
import { endOfTurn } from "../../src/features/coalescing/turn.ts";

const unsupported = () => {
  throw new Error("not supported in the Edge Runtime");
};

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

test("calls of one turn are gathered without process.nextTick", async () => {
  const order: string[] = [];
  const nextTick = vi.spyOn(process, "nextTick").mockImplementation(unsupported);
  const ended = endOfTurn(2).then(() => order.push("end of turn"));
  void Promise.resolve().then(() => order.push("promise of the turn"));
  await ended;
  expect(nextTick).toHaveBeenCalledOnce();
  expect(order).toEqual(["promise of the turn", "end of turn"]);
});

test("an alarm for now rings without setImmediate, once", async () => {
  vi.stubGlobal("setImmediate", unsupported);
  const ring = vi.fn();
  const alarm = new Alarm(ring);
  alarm.set(performance.now());
  alarm.set(performance.now() + 1);
  await vi.waitUntil(() => ring.mock.calls.length > 0);
  alarm.set(performance.now());
  alarm.clear();
  await new Promise<void>((resolve) => new Alarm(resolve).set(performance.now() + 2));
  expect(ring).toHaveBeenCalledOnce();
});
