import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTestHarness } from "wrangler";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The code block of a document after a marker of this test. */
function block(document: string, marker: string, language: string): string {
  const text = readFileSync(join(root, document), "utf8");
  const [, code] = new RegExp(`<!-- ${marker} -->\n\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(text) ?? [];
  if (code === undefined) throw new Error(`${document} has no ${language} block marked "${marker}"`);
  return code;
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

test("the README's quick start is the code of examples/cloudflare, which the tests of that platform run", () => {
  const example = readFileSync(join(root, "examples/cloudflare/worker.ts"), "utf8");
  expect(block("README.md", "test/documents/readme.test.ts compares this code", "ts")).toBe(
    example.trimEnd(),
  );
});

describe("the library's first use", () => {
  test("is the code of examples/first-use", () => {
    const example = readFileSync(join(root, "examples/first-use/worker.ts"), "utf8");
    expect(block("docs/library.md", "test/documents/readme.test.ts runs this code", "ts")).toBe(
      example.trimEnd(),
    );
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

describe("the README's table of features", () => {
  const [, table = ""] = /\n(\| feature \| Torrelque \|.*\n(?:\|.*\n)+)/.exec(readme) ?? [];
  const [head = [], , ...rows] = table
    .trim()
    .split("\n")
    .map((row) =>
      row
        .split("|")
        .slice(1, -1)
        .map((cell) => cell.trim()),
    );
  const features = rows.map(([feature = "", ...cells]) => ({
    feature,
    marks: cells.slice(0, -1),
    here: cells.at(-1) ?? "",
  }));
  const OURS_ALONE = ["limits on how many work, and how often; pause; back-pressure"];

  test("has a column for each of five systems and for this one, and each feature once", () => {
    expect(head).toEqual(["feature", "Torrelque", "Redis Work Queue", "blog", "Worqr", "Blueque", "Sluice"]);
    expect(features.length).toBeGreaterThan(30);
    expect(new Set(features.map(({ feature }) => feature)).size).toBe(features.length);
    for (const { marks } of features) expect(marks).toHaveLength(5);
  });

  test("says of each feature which other system has it, except the features of this one alone", () => {
    expect(features.flatMap(({ marks }) => marks).filter((mark) => mark !== "" && mark !== "●")).toEqual([]);
    const unmarked = features.filter(({ marks }) => !marks.includes("●"));
    expect(unmarked.map(({ feature }) => feature)).toEqual(OURS_ALONE);
  });

  test("says what each feature is here, by a link to a test or a document, or why it is declined", () => {
    const explained = /\]\((?:test\/\S+\.test\.ts|docs\/\S+\.md)\)|\bdeclined[:,] \w+ \w+/;
    const unexplained = features.filter(
      ({ here }) => !explained.test(here) || /\bdeclined(?![:,] \w+ \w+)/.test(here),
    );
    expect(unexplained.map(({ feature }) => feature)).toEqual([]);
  });
});
