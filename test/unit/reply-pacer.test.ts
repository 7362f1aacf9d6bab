import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { ReplyPacer } from "../../src/transport/reply-pacer.ts";

/** Asks for so many turns, and notes each as it comes. */
function ask(paced: ReplyPacer, from: number, to: number, given: number[]) {
  for (let i = from; i < to; i++) void paced.turn().then(() => given.push(i));
}

const upTo = (end: number) => Array.from({ length: end }, (_, i) => i);

test("ten answers are handed out in a turn of the event loop, in order; others wait for the next", async () => {
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

test("one that comes alone does not wait, however many came before", async () => {
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
