/**
 * The embedded store: how long it takes to start, how long a unit test with it takes, and how many calls it answers,
 * with one caller in its process. `node bench/embedded.ts`
 */
import { embedded, EmbeddedDatabase } from "../src/embedded/index.ts";
import { Queue } from "../src/index.ts";
import { testQueue } from "../src/testing/index.ts";
import { median, printGoal, quick } from "./report.ts";

const TASKS = quick ? 500 : 5_000;
const ROUNDS = 4;

const start = await took(async () => {
  new EmbeddedDatabase().call("EVAL", "return redis.call('PING')", "0");
});

const tests: number[] = [];
for (let test = 0; test < 20; test++) {
  tests.push(await took(unitTest));
}
const [first = Number.NaN, ...others] = tests;

const emails = new Queue("emails", { transport: embedded(new EmbeddedDatabase()) });
for (let round = 1; round <= ROUNDS; round++) {
  const enqueues = await perSecond(async () => void (await emails.enqueue({ to: "a@example.com" })));
  const cycles = await perSecond(async () => void (await (await emails.dequeue())[0]?.complete()));
  console.log(`round ${round}: ${enqueues} enqueues/s; ${cycles} times dequeue and complete/s`);
}

const unit = "a test with a delay, two retries and a dead letter";
const ms = (time: number) => `${time.toFixed(1)} ms`;
printGoal("start, with the first script", ms(start), "≤ 100 ms", start <= 100);
printGoal(`${unit}, median of 19`, ms(median(others)), "≤ 50 ms", median(others) <= 50);
printGoal(`${unit}, the first of a process`, ms(first), "≤ 50 ms", first <= 50);

async function perSecond(call: () => Promise<void>): Promise<number> {
  const ms = await took(async () => {
    for (let calls = 0; calls < TASKS; calls++) await call();
  });
  return Math.round((TASKS / ms) * 1_000);
}

async function took(work: () => Promise<void>): Promise<number> {
  const begin = performance.now();
  await work();
  return performance.now() - begin;
}

async function unitTest(): Promise<void> {
  const queue = testQueue("emails");
  const fail = () => Promise.reject(new Error("busy"));
  await queue.enqueue({ to: "a@example.com" }, { delay: "10m", maxAttempts: 3 });
  await queue.advance("10m");
  await queue.workToEnd(fail);
  if ((await queue.deadLetters()).length !== 1) throw new Error("there must be one dead letter");
}
