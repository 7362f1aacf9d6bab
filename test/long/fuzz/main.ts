// npm run test:fuzz: sends requests made from the OpenAPI document to the Worker in workerd. `--help` lists
// the options.

import { messageOf } from "../../../src/errors.ts";
import { minutes, optional, readOptions, seed, wholeNumber } from "../../support/options.ts";

const program = {
  script: "test:fuzz",
  does: "Sends requests made from the OpenAPI document to the Worker in workerd.",
};
const options = readOptions(program, {
  minutes: minutes("goes on with further seeds for that many minutes (default: one seed)"),
  requests: optional("N", "at least that many from each seed (default 20000)", (given) =>
    wholeNumber(given, 1, 1e9),
  ),
  seed: seed(),
});
// wrangler takes seconds to load, so the options are checked before.
const [{ fuzz }, { openWorkerStack }] = await Promise.all([import("./fuzz.ts"), import("./worker-stack.ts")]);
/** V8 collects garbage late: it takes about a gigabyte, and then no more. */
const MOST_MEMORY = 1_600_000_000;
const requests = options.requests ?? 20_000;
const end = performance.now() + (options.minutes ?? 0) * 60_000;
let from = options.seed ?? Date.now() % 1_000_000;
let all = 0;
try {
  do {
    console.log(`seed ${from}, at least ${requests} requests`);
    const began = performance.now();
    const stack = await openWorkerStack();
    try {
      const { broken, valid, uncalled } = await fuzz(stack, { seed: from, requests }, console.log);
      const memory = await stack.memory();
      const seconds = Math.round((performance.now() - began) / 1_000);
      console.log(`${broken} broken, ${valid} valid, ${seconds} s, ${Math.round(memory / 1e6)} MB`);
      if (uncalled.length > 0 && requests >= 20_000) throw new Error(`never called: ${uncalled.join(", ")}`);
      if (memory > MOST_MEMORY) throw new Error(`workerd takes ${memory} bytes of memory`);
      all += broken + valid;
    } finally {
      await stack.close();
    }
    from += 1_000_000;
  } while (performance.now() < end);
  console.log(`${all} requests, every answer as documented`);
} catch (error) {
  const again = `npm run test:fuzz -- --seed ${from} --requests ${requests}`;
  console.error(`${messageOf(error)}\nto see it again: ${again}`);
  process.exitCode = 1;
}
