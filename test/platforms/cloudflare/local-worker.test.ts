import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startCron } from "../../../src/local/stack/cron.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import { type LocalWorker, startLocalWorker } from "../../../src/local/stack/worker.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-test-"));
const logged: string[] = [];
let worker: LocalWorker;

beforeAll(async () => {
  const files = {
    "wrangler.toml":
      'name = "echo"\nmain = "echo.ts"\ncompatibility_date = "2026-10-23"\n[triggers]\ncrons = ["0 3 * * *"]\n',
    "echo.ts": `export default {
      fetch: (request: Request, env: unknown) => Response.json(env),
      scheduled({ cron }: { cron: string }) { if (cron === "1 2 3 4 *") throw new Error("no"); console.log("swept " + cron); },
    };`,
    ".env": "UPSTASH_REDIS_REST_URL=https://real.example\nLEAK=1\n",
    ".dev.vars": "UPSTASH_REDIS_REST_URL=https://real.example\nLEAK=1\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  worker = await startLocalWorker({
    config: join(folder, "wrangler.toml"),
    port: await freePort(),
    bindings: { UPSTASH_REDIS_REST_URL: "http://127.0.0.1:1" },
    folder: join(folder, "worker"),
    logFile: join(folder, "worker.log"),
    log: (line) => logged.push(line),
  });
});

afterAll(async () => {
  await worker.child.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("the Worker sees its bindings, and nothing of .env, .dev.vars or this environment", async () => {
  const env: unknown = await (await fetch(worker.url)).json();
  expect(env).toEqual({ UPSTASH_REDIS_REST_URL: "http://127.0.0.1:1" });
});

test("the crons are those of wrangler.toml", () => {
  expect(worker.crons).toEqual(["0 3 * * *"]);
});

test("the cron calls the scheduled handler, and what the Worker logs arrives", async () => {
  const everySecond = "* * * * * *";
  const fired = await new Promise<string>((resolve, reject) => {
    const jobs = startCron(worker.url, [everySecond], {
      fired: (line) => (jobs.stop(), resolve(line)),
      failed: (line) => (jobs.stop(), reject(new Error(line))),
    });
  });
  expect(fired).toContain(`cron ${everySecond}: the Worker swept its queues`);
  await expect.poll(() => logged).toContain(`swept ${everySecond}`);
});

test("a cron that finds no Worker says so, and goes on", async () => {
  const port = await freePort();
  const failures: string[] = [];
  await new Promise<void>((resolve) => {
    const jobs = startCron(`http://127.0.0.1:${port}`, ["* * * * * *"], {
      fired: () => {},
      failed(line) {
        failures.push(line);
        if (failures.length < 2) return;
        jobs.stop();
        resolve();
      },
    });
  });
  expect(failures[0]).toContain("cron * * * * * *: the Worker did not answer");
});

test("a Worker that cannot be bundled fails with what wrangler says", async () => {
  const config = join(folder, "broken.toml");
  writeFileSync(config, 'name = "broken"\nmain = "missing.ts"\ncompatibility_date = "2026-10-23"\n');
  const port = await freePort();
  const starting = startLocalWorker({
    config,
    port,
    bindings: {},
    folder: join(folder, "broken"),
    logFile: join(folder, "broken.log"),
    log: () => {},
  });
  await expect(starting).rejects.toThrow(/the Worker ended with status 1\n[^]*missing\.ts/);
});
