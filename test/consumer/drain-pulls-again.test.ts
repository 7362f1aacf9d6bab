import { expect, test } from "vitest";
import { drain } from "../../src/consumer/drain/drain.ts";
import { type DrainOptions } from "../../src/consumer/drain/types.ts";
import type { Transport } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { noting, pause, reported } from "./draining.ts";

// When a drain with free handlers pulls again while others run. Real time.
const rig = useRig();
const queue = (transport = rig.transport) => rig.queue<string>({ transport, now: undefined });

/** Drains; the handler of `first` goes on until that of `second`, enqueued by `then`, has begun. */
async function drainUntilSecond(
  then: () => Promise<unknown>,
  options: DrainOptions = {},
  over = rig.transport,
) {
  // If Redis does not know settle yet, the pull after it in the request runs before it.
  await queue().enqueue("known");
  await drain(queue(), () => undefined);
  const { transport, sent } = noting(over);
  await queue().enqueue("first");
  let secondBegan = () => {};
  const second = new Promise<void>((resolve) => (secondBegan = resolve));
  const report = await drain(
    queue(transport),
    async ({ payload }) => {
      if (payload === "second") return secondBegan();
      await then();
      await second;
    },
    { budget: "20s", ...options },
  );
  expect(report).toEqual(reported({ completed: 2 }));
  return sent;
}

test("a second after a pull that left nothing, once, because a producer may have sent no wake in between", async () => {
  const sent = await drainUntilSecond(() => queue().enqueue("second"));
  expect(sent.slice(0, 2)).toEqual([["dequeue"], ["dequeue"]]);
});

test("at once when it is notified", async () => {
  let look = () => {};
  const listen = (given: () => void) => (look = given);
  let observed = 0;
  await drainUntilSecond(
    async () => {
      // It has pulled by then.
      await pause(1_500);
      await queue().enqueue("second");
      observed = performance.now();
      look();
    },
    { listen },
  );
  expect(performance.now() - observed).toBeLessThan(5_000);
});

test("again, if it is notified during a pull", async () => {
  let look = () => {};
  const listen = (given: () => void) => (look = given);
  let dequeues = 0;
  const send: Transport["send"] = async (commands, options) => {
    const outcomes = await rig.transport.send(commands, options);
    // The second pull has not seen a task that comes now.
    if (++dequeues === 2) {
      await queue().enqueue("second");
      look();
    }
    return outcomes;
  };
  const sent = await drainUntilSecond(async () => {}, { listen }, { send });
  expect(sent.slice(0, 3)).toEqual([["dequeue"], ["dequeue"], ["dequeue"]]);
});

test("not while no handler is free", async () => {
  const { transport, sent } = noting(rig.transport);
  let look = () => {};
  await queue().enqueueMany([{ payload: "first" }, { payload: "second" }]);
  const before: number[] = [];
  const report = await drain(
    queue(transport),
    async () => {
      look();
      await pause(1_300);
      before.push(sent.length);
    },
    { concurrency: 1, batch: 1, listen: (given) => (look = given) },
  );
  expect([report, before[0]]).toEqual([reported({ completed: 2 }), 1]);
});
