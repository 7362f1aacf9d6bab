/**
 * The embedded store: how long it takes to start, and how many calls it answers, with one caller in its process.
 * `node bench/embedded.ts`
 */
import { embedded, EmbeddedDatabase } from "../src/embedded/index.ts";
import { Queue } from "../src/index.ts";

const TASKS = 5_000;
const ROUNDS = 4;

const begin = performance.now();
new EmbeddedDatabase().call("EVAL", "return redis.call('PING')", "0");
console.log(`start, with the first script: ${(performance.now() - begin).toFixed(1)} ms`);

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
