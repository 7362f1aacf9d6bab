/**
 * The embedded store: how long it takes to start, how long a unit test with it takes, and how many calls it answers,
 * with one caller in its process. `node bench/embedded.ts`
 */
import { embedded, EmbeddedDatabase } from "../src/embedded/index.ts";
import { Queue } from "../src/index.ts";
import { testQueue } from "../src/testing/index.ts";

const TASKS = 5_000;
const ROUNDS = 4;

const begin = performance.now();
new EmbeddedDatabase().call("EVAL", "return redis.call('PING')", "0");
console.log(`start, with the first script: ${(performance.now() - begin).toFixed(1)} ms`);

const tests: number[] = [];
for (let test = 0; test < 20; test++) {
  const from = performance.now();
  await unitTest();
  tests.push(performance.now() - from);
}
const [first = 0, ...others] = tests;
const median = others.toSorted((a, b) => a - b)[Math.floor(others.length / 2)] ?? 0;
console.log(
  `a test with a delay, two retries and a dead letter: the first of a process ${first.toFixed(1)} ms, ` +
    `the median of 19 others ${median.toFixed(1)} ms`,
);

const emails = new Queue("emails", { transport: embedded(new EmbeddedDatabase()) });
for (let round = 1; round <= ROUNDS; round++) {
  const enqueues = await perSecond(async () => void (await emails.enqueue({ to: "a@example.com" })));
  const cycles = await perSecond(async () => void (await (await emails.dequeue())[0]?.complete()));
  console.log(`round ${round}: ${enqueues} enqueues/s; ${cycles} times dequeue and complete/s`);
}

async function perSecond(call: () => Promise<void>): Promise<number> {
  const start = performance.now();
  for (let calls = 0; calls < TASKS; calls++) await call();
  return Math.round((TASKS / (performance.now() - start)) * 1_000);
}

async function unitTest(): Promise<void> {
  const queue = testQueue("emails");
  const fail = () => Promise.reject(new Error("busy"));
  await queue.enqueue({ to: "a@example.com" }, { delay: "10m", maxAttempts: 3 });
  await queue.advance("10m");
  await queue.workToEnd(fail);
  if ((await queue.deadLetters()).length !== 1) throw new Error("there must be one dead letter");
}
