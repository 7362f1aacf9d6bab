import { execFile } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { serve } from "@hono/node-server";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openapi } from "../../src/http/docs/openapi.gen.ts";
import { createApp } from "../../src/http/index.ts";
import { problems } from "../../src/http/problems/codes.ts";
import { Queue } from "../../src/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { accessRows } from "../http/access-rows.ts";
import { essentials } from "../support/environment.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { differences } from "./shown-answer.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/http.md"), "utf8");

/** A curl line of the page. */
interface ShownRequest {
  readonly command: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  /** The body of the answer, as the page shows it. */
  readonly answer: string;
}

const requests: readonly ShownRequest[] = Array.from(page.matchAll(/```sh\n([\s\S]*?)\n```/g))
  .flatMap(([, block = ""]) => block.split(/\n(?=curl )/))
  .filter((text) => text.startsWith("curl "))
  .map(shownRequest);

function shownRequest(text: string): ShownRequest {
  const [, command = "", status = "", first = "", rest = ""] =
    /^(curl [\s\S]*?)\n# (\d{3})(.*)((?:\n#.*)*)\s*$/.exec(text) ?? [];
  const [, path = ""] = /"\$SLUICE_URL([^"?]*)/.exec(command) ?? [];
  const [, method = / -d /.test(command) ? "POST" : "GET"] = /-X (\w+)/.exec(command) ?? [];
  const answer = `${first}${rest.replaceAll("\n#", "\n")}`.replace(/^ /gm, "").trim();
  return { command, method, path, status: Number(status), answer };
}

/** The routes of the OpenAPI document, such as `GET /v1/queues/{queue}`. */
const routes = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
);

test("each route of the OpenAPI document has a curl line, and each curl line is of such a route", () => {
  expect(routes.length).toBeGreaterThan(35);
  const requested = requests.map(({ method, path }) => {
    const found = routes.filter((route) => isOf(route, method, path));
    // `…/tasks/pull` is of a route of its own, and not the task `pull`.
    return found.find((route) => !route.endsWith("}")) ?? found[0] ?? `unknown: ${method} ${path}`;
  });
  expect([...new Set(requested)].toSorted()).toEqual(routes.toSorted());
});

function isOf(route: string, method: string, path: string): boolean {
  const [expected = "", template = ""] = route.split(" ");
  const pattern = template.replaceAll(/\{\w+\}/g, "[^/]+");
  return method === expected && new RegExp(`^${pattern}$`).test(path);
}

test("each route is named once, with the scopes that open it", () => {
  const named = Array.from(page.matchAll(/^`([A-Z]+ \/\S*)`, (.*)$/gm), ([, route = "", scopes = ""]) =>
    [route, ...Array.from(scopes.matchAll(/`(\w+)`/g), ([, scope]) => scope)].join(" "),
  );
  const expected = Object.entries(accessRows)
    .filter(([route]) => route !== "GET /")
    .map(([route, { scopes }]) => {
      // The access rows name the parameters as the app does, and the page as the OpenAPI document does.
      const names = scopes.map((scope) => (scope === "cron" ? "CRON_SECRET" : scope));
      return [route.replaceAll(/:(\w+)/g, "{$1}"), ...names].join(" ");
    });
  expect(named.toSorted()).toEqual(expected.toSorted());
});

test("the table of errors has each code with its status", () => {
  const rows = Array.from(page.matchAll(/^\| (\d{3}) \| `(\w+)` \|/gm), ([, ...cells]) => cells.join(" "));
  const codes = Object.entries(problems).map(([code, { status }]) => `${status} ${code}`);
  expect(rows.toSorted()).toEqual(codes.toSorted());
});

describe("each request of docs/http.md, in the order of the page", () => {
  const secrets = {
    SLUICE_TOKEN: "a-token-for-the-page",
    VIEW_TOKEN: "a-token-that-hides-payloads",
    CRON_SECRET: "a-cron-secret-for-the-page",
  };
  const bin = mkdtempSync(join(tmpdir(), "sluice-http-page-"));
  let redis: TestRedis;
  let gateway: Gateway;
  let url: string;
  let close: () => void;
  /** The receipt of the last pull. */
  let receipt = "";

  beforeAll(async () => {
    const shim = join(root, "test/documents/curl.mjs");
    chmodSync(shim, 0o755);
    symlinkSync(shim, join(bin, "curl"));
    redis = await startRedis();
    gateway = await startGateway({ redisUrl: redis.url });
    const app = createApp({
      transport: upstash(gateway),
      tokens: [
        { token: secrets.SLUICE_TOKEN, scopes: ["enqueue", "consume", "admin"], queues: "*" },
        { token: secrets.VIEW_TOKEN, scopes: ["view"], queues: "*", payloads: "hidden" },
      ],
      cronSecret: secrets.CRON_SECRET,
    });
    const server = serve({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" });
    await once(server, "listening");
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    close = () => server.close();
  });
  afterAll(async () => {
    close();
    await gateway.close();
    await redis.stop();
    rmSync(bin, { recursive: true });
  });

  async function run(command: string): Promise<{ status: number; body: unknown }> {
    const env = {
      ...essentials,
      PATH: `${bin}:${essentials["PATH"]}`,
      SLUICE_URL: url,
      ...secrets,
      RECEIPT: receipt,
    };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { env });
    return JSON.parse(stdout) as { status: number; body: unknown };
  }

  /** Enqueues until the request is answered, so that a stream of events has some. */
  async function enqueueDuring<T>(request: Promise<T>): Promise<T> {
    const queue = new Queue("emails", { transport: upstash(gateway) });
    const timer = setInterval(() => void queue.enqueue(null), 200);
    return request.finally(() => clearInterval(timer));
  }

  test.each(requests)("$method $path $status", async ({ command, status, answer, path }) => {
    const running = run(command);
    const answered = await (path.endsWith("/events") ? enqueueDuring(running) : running);
    expect({
      status: answered.status,
      differences: answer === "" ? [] : differences(answer, answered.body),
    }).toEqual({ status, differences: [] });
    const { tasks, pull } = answered.body as { tasks?: Leased[]; pull?: { tasks: Leased[] } };
    receipt = (tasks ?? pull?.tasks)?.[0]?.receipt ?? receipt;
  });
});

interface Leased {
  readonly receipt?: string;
}
