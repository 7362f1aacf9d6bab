import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const start = fileURLToPath(new URL("../../../src/local/start.ts", import.meta.url));

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

test("`npm start` sends 300 events and kills a consumer; every event is accounted for, and the dashboard shows them", async () => {
  const { REDIS_URL: _, ...env } = process.env;
  const child: ChildProcess = spawn(process.execPath, [start, "--node", "--events", "300"], {
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

    await expect.poll(() => output, { timeout: 180_000 }).toContain("Ctrl-C ends everything.");
    expect(output.indexOf("  Dashboard ")).toBeLessThan(output.indexOf("Webhooks of 300 events"));
    const all = /^ +all +(\d+) +(\d+) +(\d+) +(\d+) +(\d+)$/m.exec(output) ?? [];
    const [events, once = 0, again = 0, dead = 0, unaccounted] = all.slice(1).map(Number);
    expect({ events, sum: once + again + dead, unaccounted }).toEqual({
      events: 300,
      sum: 300,
      unaccounted: 0,
    });
    // At least once, and shown: deliveries of the killed consumer are repeated.
    const [, unsettled] =
      /^Killed consumer-\S+: at least (\d+) webhooks delivered, and not yet settled\.$/m.exec(output) ?? [];
    const [, afterCrash] = /delivered again: (\d+) by the run that was killed/.exec(output) ?? [];
    expect(Number(unsettled)).toBeGreaterThanOrEqual(3);
    expect(Number(afterCrash)).toBeGreaterThan(0);
    expect(output).toMatch(/dead letters: .*\d+ attempts_exhausted/);
    expect(output).toMatch(/dead letters: .*\d+ rejected/);
    expect(output).toMatch(/On Upstash: \d+ requests, [\d,]+ billed commands, \$0\.\d+;/);
    expect(output).toContain("Every event is accounted for.");

    const { totals } = await read(`${queue}/statistics`);
    expect(totals.enqueued).toBe(300);
    expect(await read(queue)).toMatchObject({ pending: 0, delayed: 0, working: 0, rejected: dead });
  } finally {
    child.kill("SIGINT");
    expect(await once(child, "close")).toEqual([0, null]);
  }
}, 400_000);
