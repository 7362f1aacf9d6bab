import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestHarness } from "wrangler";
import { Queue } from "../../src/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { block, runs } from "./block.ts";
import { root } from "./named-tests.ts";

/** Makes `sluice-queue` of a folder the sources, with these entries: `local/index` is `sluice-queue/local`. */
function installSources(folder: string, entries: readonly string[]): void {
  const home = join(folder, "node_modules/sluice-queue");
  mkdirSync(home, { recursive: true });
  const exports = entries.map((entry) => {
    const name = entry.replace(/\/?index$/, "").replace(/^transport\//, "");
    const file = `${name || "index"}.js`;
    const source = pathToFileURL(join(root, `src/${entry}.ts`)).href;
    writeFileSync(join(home, file), `export * from "${source}";\n`);
    return [name ? `./${name}` : ".", `./${file}`];
  });
  const manifest = { name: "sluice-queue", type: "module", exports: Object.fromEntries(exports) as object };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
}

let redis: TestRedis;
let gateway: Gateway;

beforeAll(async () => {
  redis = await startRedis();
  gateway = await startGateway({ redisUrl: redis.url });
});
afterAll(async () => {
  await gateway.close();
  await redis.stop();
});

describe("the README's quick start", () => {
  test("prints what the README shows, on Node and the embedded store", async () => {
    const folder = mkdtempSync(join(tmpdir(), "sluice-quick-start-"));
    try {
      installSources(folder, ["index", "local/index", "transport/upstash"]);
      writeFileSync(join(folder, "first.mjs"), block("README.md", `${runs} code`, "js"));
      const { stdout } = await promisify(execFile)(process.execPath, ["first.mjs"], { cwd: folder });
      const shown = block("README.md", "test/documents/readme.test.ts compares what it prints", "console");
      expect(`$ node first.mjs\n${stdout}`).toBe(`${shown}\n`);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  test("is a Worker that works on what its fetch enqueues, in workerd", async () => {
    const example = readFileSync(join(root, "examples/quick-start/worker.ts"), "utf8");
    expect(block("README.md", `${runs} Worker`, "ts")).toBe(example.trimEnd());
    const server = createTestHarness({
      workers: [
        {
          configPath: join(root, "examples/quick-start/wrangler.toml"),
          secrets: {
            UPSTASH_REDIS_REST_URL: gateway.url,
            UPSTASH_REDIS_REST_TOKEN: gateway.token,
            SLUICE_PREFIX: "quick-start",
          },
        },
      ],
    });
    await server.listen();
    try {
      const response = await server.fetch("/signup?to=ada@example.com");
      expect(response.status).toBe(200);
      const { id, created } = (await response.json()) as { id: string; created: boolean };
      expect(created).toBe(true);
      expect((await server.fetch("/favicon.ico")).status).toBe(404);
      const emails = new Queue("emails", { transport: upstash(gateway), prefix: "quick-start" });
      expect(await emails.wait(id, { for: "20s" })).toMatchObject({ state: "completed", attempt: 1 });
    } finally {
      await server.close();
    }
  });
});

describe("the library's first use", () => {
  test("is the code of examples/first-use", () => {
    const example = readFileSync(join(root, "examples/first-use/worker.ts"), "utf8");
    expect(block("docs/library.md", `${runs} code`, "ts")).toBe(example.trimEnd());
  });

  test("sends each mail once, and again the one that failed, from workerd and its cron", async () => {
    const mails: { id: string | undefined; to: string; accepted: boolean }[] = [];
    const mailer = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const { to } = JSON.parse(body) as { to: string };
        const id = String(request.headers["idempotency-key"]);
        const accepted = to !== "b@example.com" || mails.some((mail) => mail.id === id);
        mails.push({ id, to, accepted });
        response.writeHead(accepted ? 200 : 503).end();
      });
    }).listen(0, "127.0.0.1");
    await once(mailer, "listening");
    const server = createTestHarness({
      workers: [
        {
          configPath: join(root, "examples/first-use/wrangler.toml"),
          secrets: {
            UPSTASH_REDIS_REST_URL: gateway.url,
            UPSTASH_REDIS_REST_TOKEN: gateway.token,
            MAIL_URL: `http://127.0.0.1:${(mailer.address() as AddressInfo).port}/`,
          },
        },
      ],
    });
    await server.listen();
    const signUp = async (to: string) => (await server.fetch(`/?to=${encodeURIComponent(to)}`)).status;
    const cron = () => server.getWorker().scheduled({ cron: "* * * * *", scheduledTime: new Date() });
    try {
      expect([
        await signUp("a@example.com"),
        await signUp("b@example.com"),
        await signUp("a@example.com"),
      ]).toEqual([201, 201, 200]);
      expect((await cron()).outcome).toBe("ok");
      // The failed one is due again in two seconds.
      while (mails.length < 3) {
        await new Promise((resolve) => setTimeout(resolve, 250));
        await cron();
      }
      await cron();
      expect(mails.toSorted((x, y) => (x.to < y.to ? -1 : 1))).toEqual([
        { id: "welcome-a%40example.com", to: "a@example.com", accepted: true },
        { id: "welcome-b%40example.com", to: "b@example.com", accepted: false },
        { id: "welcome-b%40example.com", to: "b@example.com", accepted: true },
      ]);
    } finally {
      await server.close();
      mailer.close();
    }
  });
});
