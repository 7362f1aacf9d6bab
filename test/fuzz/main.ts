// npm run test:fuzz: sends requests made from the OpenAPI document to the Worker in workerd. `--help` lists
// the options.

import { messageOf } from "../../src/errors.ts";
import { minutes, optional, readOptions, seed, wholeNumber } from "../support/options.ts";

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
const { fuzz } = await import("./fuzz.ts");
const requests = options.requests ?? 20_000;
const end = performance.now() + (options.minutes ?? 0) * 60_000;
let from = options.seed ?? Date.now() % 1_000_000;
let all = 0;
try {
  do {
    console.log(`seed ${from}, at least ${requests} requests`);
    const { broken, valid, modelled, seconds, operations } = await fuzz({
      seed: from,
      requests,
      reported: console.log,
    });
    all += broken + valid + modelled;
    console.log(`of ${operations.size} operations, in ${seconds.toFixed(0)} s`);
    from += 1_000_000;
  } while (performance.now() < end);
  console.log(`${all} requests, every answer as documented`);
} catch (error) {
  const again = `npm run test:fuzz -- --seed ${from} --requests ${requests}`;
  console.error(`${messageOf(error)}\nto see it again: ${again}`);
  process.exitCode = 1;
}
