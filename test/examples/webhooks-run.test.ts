import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const start = fileURLToPath(new URL("../../src/local/start.ts", import.meta.url));

/** Runs the local stack with the example to its end, and exits. */
async function run(...args: string[]): Promise<{ status: number | null; output: string }> {
  const { REDIS_URL: _, ...env } = process.env;
  const child = spawn(process.execPath, [start, "--node", "--exit", ...args], {
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
  "300 events go through the deployment, a consumer is killed, and every event is accounted for",
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

/** Signs in to the dashboard of `npm start` with the token that it has printed. Returns how to read its routes. */
async function signIn(output: string) {
  const [, url = "", token] = /^ {2}Dashboard (\S+) +sign in with the token (\S+)$/m.exec(output) ?? [];
  const { origin } = new URL(url);
  const signedIn = await fetch(`${url}/session`, {
    method: "POST",
    headers: { origin, "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
  expect(signedIn.status).toBe(204);
  const [cookie = ""] = signedIn.headers.getSetCookie().join().split(";");
  // JSON whose fields the test reads.
  // oxlint-disable-next-line typescript/no-explicit-any
  return async (path: string): Promise<any> => {
    const response = await fetch(`${url}${path}`, { headers: { cookie, origin } });
    return response.json();
  };
}

test(
  "the dashboard of `npm start` shows the example while it runs and after its end",
  { timeout: 240_000 },
  async () => {
    const { REDIS_URL: _, ...env } = process.env;
    const child: ChildProcess = spawn(process.execPath, [start, "--node", "--events", "100"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    let output = "";
    child.stdout?.on("data", (chunk: Buffer) => (output += chunk.toString()));
    try {
      await expect.poll(() => output, { timeout: 60_000 }).toContain("sign in with the token");
      const read = await signIn(output);
      expect((await read("/session")).grants).toEqual([
        { scopes: ["enqueue", "consume", "admin"], queues: "*" },
      ]);

      const queue = "/api/v1/queues/webhooks";
      const workers = async () => (await read(`${queue}/workers`)).workers ?? [];
      await expect
        .poll(workers, { timeout: 60_000 })
        .toContainEqual(expect.objectContaining({ name: expect.stringMatching(/^consumer-/) as unknown }));

      await expect.poll(() => output, { timeout: 120_000 }).toContain("Ctrl-C ends everything.");
      expect(output.indexOf("  Dashboard ")).toBeLessThan(output.indexOf("Webhooks of 100 events"));
      expect(output).toContain("Every event is accounted for.");
      const { totals } = await read(`${queue}/statistics`);
      expect(totals.enqueued).toBe(100);
      const [, dead] = /^ +all +\d+ +\d+ +\d+ +(\d+)/m.exec(output) ?? [];
      const counts = await read(queue);
      expect(counts).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: Number(dead) });
      expect(Number(dead)).toBeGreaterThan(0);
    } finally {
      child.kill("SIGINT");
      await once(child, "close");
    }
  },
);
