import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const start = fileURLToPath(new URL("../../src/local/start.ts", import.meta.url));

/** Runs the local stack with the example to its end. */
async function run(...args: string[]): Promise<{ status: number | null; output: string }> {
  const { REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, [start, "--exit", ...args], {
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output += chunk.toString()));
  // A run that hangs is ended before the test is, so that the failure shows what it has written.
  const hangs = setTimeout(() => child.kill(), 200_000);
  const [status] = (await once(child, "close")) as [number | null];
  clearTimeout(hangs);
  return { status, output };
}

test(
  "300 events go through the Worker, a consumer is killed, and every event is accounted for",
  { timeout: 240_000 },
  async () => {
    const { status, output } = await run("--events", "300");
    const all = /^ +all +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$/m.exec(output);
    expect(all, output).not.toBeNull();
    const [events = 0, once = 0, again = 0, dead = 0, unaccounted] = (all ?? []).slice(1).map(Number);
    expect({ events, sum: once + again + dead, unaccounted }).toEqual({
      events: 300,
      sum: 300,
      unaccounted: 0,
    });
    // At least once, and shown: deliveries of the killed consumer are repeated.
    const [, unsettled] =
      /^Killed consumer-\S+: (\d+) webhooks delivered, and not yet settled\.$/m.exec(output) ?? [];
    const [, afterCrash] = /delivered again: (\d+) by the run that was killed/.exec(output) ?? [];
    expect(Number(unsettled)).toBeGreaterThanOrEqual(3);
    expect(Number(afterCrash)).toBeGreaterThan(0);
    expect(output).toMatch(/dead letters: .*\d+ attempts_exhausted/);
    expect(output).toMatch(/dead letters: .*\d+ rejected/);
    expect(output).toMatch(/On Upstash: \d+ requests, [\d,]+ billed commands, \$0\.\d+;/);
    expect(status, output).toBe(0);
  },
);
