// The gateway, which loses replies, runs requests twice, and the like, until SIGUSR2 asks it to be reliable.

import { setTimeout as sleep } from "node:timers/promises";
import { type Fault, type FaultHandle, startGateway } from "../../../src/local/index.ts";
import { FAULTS_EVERY, RUN_AGAIN } from "./ledger.ts";
import { RunProcess } from "./run-process.ts";

const runProcess = new RunProcess();
const { env, ledger, roll } = runProcess;
const gateway = await startGateway({
  redisUrl: env.CHAOS_REDIS,
  port: Number(new URL(env.CHAOS_GATEWAY).port),
  token: env.CHAOS_TOKEN,
});

const kinds: readonly (readonly [name: string, fault: Fault])[] = [
  ["reply lost", { kind: "lose-reply" }],
  ["reply lost", { kind: "lose-reply" }],
  ["reply cut", { kind: "cut-body" }],
  [RUN_AGAIN, { kind: "duplicate", answer: "first" }],
  ["run twice", { kind: "duplicate", answer: "second" }],
  ["first copy late", { kind: "hold" }],
  ["first copy late", { kind: "hold" }],
  ["request lost", { kind: "cut" }],
  ["scripts forgotten", { kind: "noscript" }],
  ["answered 500", { kind: "http", status: 500 }],
  ["answered 429", { kind: "http", status: 429 }],
];

/** How many faults wait for a request at once. */
const ARMED = 2;
/** A fault meets one of the next so many requests. */
const SPREAD = 30;
const armed = new Map<FaultHandle, string>();
const reliable = new AbortController();
process.once("SIGUSR2", () => reliable.abort());
runProcess.ending.addEventListener("abort", () => void gateway.close());

async function release(held: FaultHandle): Promise<void> {
  await sleep(100 + roll(2_500));
  await held.release();
}

while (!runProcess.ending.aborted && !reliable.signal.aborted) {
  while (armed.size < ARMED) {
    const [name, fault] = kinds[roll(kinds.length)] as (typeof kinds)[number];
    armed.set(gateway.faults.add({ ...fault, match: { command: "EVALSHA", nth: 1 + roll(SPREAD) } }), name);
  }
  await sleep(FAULTS_EVERY);
  for (const [handle, kind] of armed) {
    if (handle.hits === 0) continue;
    armed.delete(handle);
    ledger.write({ what: "fault", kind });
    if (handle.held > 0) void release(handle);
    else handle.remove();
  }
}
for (const handle of armed.keys()) handle.remove();
