// Sends requests made from the OpenAPI document to the Worker in workerd: `main.ts [--requests 100000] [--minutes 10] [--seed 1]`.

import { parseArgs } from "node:util";
import { fuzz } from "./fuzz.ts";

const { values } = parseArgs({
  options: { requests: { type: "string" }, minutes: { type: "string" }, seed: { type: "string" } },
});

function number(name: keyof typeof values, fallback: number): number {
  const told = Number(values[name] ?? fallback);
  if (!(told > 0)) throw new Error(`--${name} must be a number above 0`);
  return told;
}

const requests = number("requests", 20_000);
const end = performance.now() + number("minutes", 0.001) * 60_000;
let seed = Math.floor(number("seed", Date.now() % 1_000_000));
let sent = 0;
do {
  console.log(`seed ${seed}`);
  const { broken, valid, modelled, seconds, operations } = await fuzz({ seed, requests, told: console.log });
  sent += broken + valid + modelled;
  console.log(`of ${operations.size} operations, in ${seconds.toFixed(0)} s`);
  seed += 1_000_000;
} while (performance.now() < end);
console.log(`${sent} requests, every answer as documented`);
