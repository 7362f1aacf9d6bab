import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ReplyPacer } from "../../src/transports/reply-pacer.ts";

/** Asks for the turns `from` to `to`, and collects them in the order of their answers. */
function ask(paced: ReplyPacer, from: number, to: number, given: number[]) {
  for (let i = from; i < to; i++) void paced.turn().then(() => given.push(i));
}

const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

test("ten answers a turn of the event loop are given, in order; others wait for the next turn", async () => {
  const paced = new ReplyPacer();
  const given: number[] = [];
  ask(paced, 0, 22, given);
  await Promise.resolve();
  expect(given).toEqual(upTo(10));
  ask(paced, 22, 25, given);
  await turn();
  expect(given).toEqual(upTo(20));
  await turn();
  expect(given).toEqual(upTo(25));
});

test("a single answer does not wait, also after many others", async () => {
  const paced = new ReplyPacer();
  const given: number[] = [];
  for (let i = 0; i < 15; i++) {
    ask(paced, i, i + 1, given);
    await Promise.resolve();
    expect(given).toEqual(upTo(i + 1));
    await turn();
    await turn();
  }
});
