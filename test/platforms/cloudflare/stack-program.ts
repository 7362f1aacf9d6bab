// Starts the local stack, says so, and waits for a signal: for tests that end it in several ways.

import { endSignal, Running } from "../../../src/local/stack/running.ts";
import { startStack } from "../../../src/local/stack/stack.ts";

const running = new Running();
const asked = endSignal();
const { url, tokens } = await startStack(running, {
  folder: process.argv[2] as string,
  log: console.error,
});
process.send?.({ url, tokens });
await asked;
await running.stop();
process.exit(0);
