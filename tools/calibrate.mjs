// Prints the CPU time of a fixed piece of work, ms. The gate bounds the CPU time of `npm test` as a multiple of it,
// so that slow and busy machines do not matter. Uses only built-ins of Node 20.

import { createHash } from "node:crypto";

const ROUNDS = 60_000;

/** What the tests mostly make Node do: objects, text, JSON, hashes and promises. */
async function work() {
  let text = "";
  const known = new Map();
  for (let round = 0; round < ROUNDS; round++) {
    const task = {
      id: `task-${round % 997}`,
      payload: { to: `${round}@example.com` },
      at: [round, text.length],
    };
    text = JSON.stringify(task);
    known.set(task.id, JSON.parse(text.replace(/(\d+)@/, "$1.$1@")));
    if (round % 8 === 0) createHash("sha1").update(text).digest("hex");
    await Promise.resolve(round);
  }
  return [...known.values()].toSorted((a, b) => a.at[0] - b.at[0]).length;
}

await work();
const before = process.cpuUsage();
for (let times = 0; times < 5; times++) await work();
const { user, system } = process.cpuUsage(before);
console.log(Math.round((user + system) / 1_000));
