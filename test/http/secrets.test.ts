import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { signedHeaders, signingKey } from "../../src/consumer/signature.ts";
import { webhookWaker } from "../../src/index.ts";
import { startGateway } from "../../src/local/index.ts";
import { createApp } from "../../src/http/app.ts";
import { problems } from "../../src/http/problem.ts";
import { reportToConsole } from "../../src/http/report.ts";
import { readReceipt } from "../../src/queue/receipt.ts";
import { resp } from "../../src/transport/resp.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { startRedis } from "../support/redis.ts";
import { callables } from "./access-rows.ts";
import { asker, secrets, serve, tokens } from "./served.ts";

// Every secret and every payload can be recognised. A Redis that repeats whatever it was sent tries to bring them into an
// answer, a log or an error.

const hidden = {
  payload: "payload-e3b0c44298fc1c14",
  result: "result-9afbf4c8996fb924",
  error: "error-27ae41e4649b934c",
  progress: "progress-a495991b7852b855",
  header: "header-5d41402abc4b2a76",
  pullToken: "pulltoken_7d793037a0760186",
  lease: "leasetoken5feceb66",
  redisToken: "redistoken-ef2d127de37b942b",
  redisPassword: "password-4e07408562bedb8b",
  wake: Buffer.from("wakesecret-4b227777d4dd1fc6").toString("base64"),
  ...secrets,
};

/** Where a secret shows up, in any spelling that a log or an answer could give it. */
function shown(text: string): string[] {
  return Object.entries(hidden)
    .filter(([, secret]) =>
      [secret, encodeURIComponent(secret), btoa(secret), secret.toUpperCase()].some((one) =>
        text.includes(one),
      ),
    )
    .map(([name]) => name);
}

const methods = ["log", "info", "warn", "error", "debug", "trace"] as const;
let said = "";
afterEach(() => vi.restoreAllMocks());
function listen() {
  said = "";
  for (const name of methods) {
    vi.spyOn(console, name).mockImplementation((...words) => void (said += `${words.map(deep).join(" ")}\n`));
  }
}
/** All of a value: an error's stack, its causes, and what does not enumerate. */
const deep = (value: unknown) =>
  typeof value === "string"
    ? value
    : inspect(value, { depth: 20, showHidden: true, maxStringLength: Infinity });

const bodies: Readonly<Record<string, object>> = {
  "POST /v1/queues/:queue/tasks": { payload: hidden.payload, headers: { trace: hidden.header } },
  "POST /v1/queues/:queue/tasks/pull": { max: 10, token: hidden.pullToken },
  "POST /v1/queues/:queue/tasks/settle": {
    settlements: [
      { receipt: `1.1.7.${hidden.lease}.a`, outcome: "complete", result: hidden.result },
      { receipt: `1.1.8.${hidden.lease}.b`, outcome: "reject", error: hidden.error },
      { receipt: `1.1.9.${hidden.lease}.c`, outcome: "extend", progress: { at: hidden.progress } },
    ],
    pull: { token: hidden.pullToken },
  },
  "PUT /v1/queues/:queue/schedules/:schedule": { every: "1h", payload: hidden.payload },
};
// Otherwise the server would not get as far as Redis.
readReceipt(`1.1.7.${hidden.lease}.a`, "receipt");

type Words = (body: string, headers: IncomingHttpHeaders) => { status?: number; body: string };
const all = (body: string, headers: IncomingHttpHeaders) => `${body} ${JSON.stringify(headers)}`;
const each = (body: string, reply: unknown) =>
  JSON.stringify((JSON.parse(body) as unknown[]).map(() => reply));
const refusing =
  (text: (all: string) => string): Words =>
  (body, headers) => ({ body: each(body, { error: text(all(body, headers)) }) });

/** What a Redis, or what stands in front of it, could repeat. */
const ways: Readonly<Record<string, Words>> = {
  "an unknown command, with its arguments": refusing(
    (all) => `ERR unknown command, with args beginning with: '${all}'`,
  ),
  "a command that was": refusing((all) => `ERR wrong number of arguments, command was: ${all}`),
  "an error of any other form": (body, headers) => ({
    // Each argument by itself, as a Lua error would have it.
    body: JSON.stringify(
      (JSON.parse(body) as string[][]).map((words) => ({
        error: `ERR user_script:1: cannot do ${words.slice(3).join(" nor ")} script: x. ${headers.authorization}`,
      })),
    ),
  }),
  OOM: refusing((all) => `OOM command not allowed when used memory > 'maxmemory'. command was: ${all}`),
  "NOSCRIPT, for ever": refusing((all) => `NOSCRIPT No matching script. command was: ${all}`),
  "LOADING, for ever": refusing(() => "LOADING Redis is loading the dataset in memory"),
  "a quota": refusing((all) => `ERR max daily request limit exceeded. command was: ${all}`),
  "refused credentials": (_, headers) => ({
    status: 401,
    body: JSON.stringify({ error: `WRONGPASS invalid token ${headers.authorization}` }),
  }),
  "a request that it cannot parse": (body, headers) => ({
    status: 400,
    body: JSON.stringify({ error: `ERR failed to parse command, command was: ${all(body, headers)}` }),
  }),
  "a page of a proxy": (body, headers) => ({ status: 502, body: `<h1>${all(body, headers)}</h1>` }),
  "a reply that is no JSON": (body, headers) => ({ body: `{"result": ${all(body, headers)}` }),
  "a reply that is another's": (body, headers) => ({ body: each(body, { result: [all(body, headers)] }) }),
  "a status that no script knows": (body, headers) => ({
    body: each(body, { result: ["ok", all(body, headers), [all(body, headers)]] }),
  }),
  "a record of a newer release": (body, headers) => ({
    body: each(body, { result: ["newer_schema", all(body, headers)] }),
  }),
  "a redirection": (body, headers) => ({ status: 307, body: all(body, headers) }),
};

let echo: Server;
let url: string;
let way: Words | "silent" = "silent";
beforeAll(async () => {
  echo = createServer((request, response) => {
    let body = "";
    request.on("data", (chunk: Buffer) => (body += chunk.toString()));
    request.on("end", () => {
      if (way === "silent") return;
      const answer = way(body || "[]", request.headers);
      response.writeHead(answer.status ?? 200, { "content-type": "application/json" }).end(answer.body);
    });
  });
  echo.listen(0, "127.0.0.1");
  await once(echo, "listening");
  url = `http://127.0.0.1:${(echo.address() as AddressInfo).port}`;
});
afterAll(() => {
  echo.close();
  echo.closeAllConnections();
});

const ofRedis = callables.filter(({ scopes, route }) => scopes.length > 0 || route === "GET /health");

/** Calls every route; tells what its answers, what was reported, and what the console shows of what is hidden. */
async function everyRoute(transport: Parameters<typeof createApp>[0]["transport"]) {
  listen();
  const leaks: string[] = [];
  const codes = new Set<string>();
  const app = createApp({
    transport,
    tokens,
    cronSecret: secrets.cron,
    report(fault) {
      reportToConsole(fault);
      const found = shown(deep(fault));
      if (found.length > 0) leaks.push(`report of ${fault.route}: ${found.join()}`);
    },
  });
  const ask = asker((request) => app.fetch(request));
  await Promise.all(
    ofRedis.map(async ({ route, method, path, json, scopes }) => {
      const as = scopes[0] === "cron" ? "cron" : "all";
      const answer = await ask(method, path("q"), { as, json: bodies[route] ?? json });
      if (answer.status >= 400) codes.add(answer.body.code);
      const found = shown(`${deep([...answer.headers])} ${deep(answer.body)}`);
      if (found.length > 0) leaks.push(`${route} ${answer.status}: ${found.join()}`);
    }),
  );
  const onConsole = shown(said);
  if (onConsole.length > 0) leaks.push(`console: ${onConsole.join()}`);
  return { leaks, codes };
}

describe("nothing that is hidden shows in an answer, a report or a log, where Redis answers every route with", () => {
  const retry = { deadline: 150, firstWait: 1, longestWait: 1 };

  it.each(Object.entries(ways))("%s", async (_, words) => {
    way = words;
    const { leaks, codes } = await everyRoute(upstash({ url, token: hidden.redisToken }, { retry }));
    expect(leaks).toEqual([]);
    // It did get as far as Redis, and every code is one that is documented.
    expect(codes.size).toBeGreaterThan(0);
    expect([...codes].filter((code) => !Object.hasOwn(problems, code))).toEqual([]);
    expect(said).toContain('"code":');
  });

  it("nothing, until the deadline", async () => {
    way = "silent";
    const { leaks, codes } = await everyRoute(upstash({ url, token: hidden.redisToken }, { retry }));
    expect([leaks, [...codes]]).toEqual([[], ["redis_unreachable"]]);
  });

  it("no connection at all, by either way to it", async () => {
    const http = upstash({ url: "http://127.0.0.1:1", token: hidden.redisToken }, { retry });
    const tcp = resp({ url: `redis://user:${hidden.redisPassword}@127.0.0.1:1`, retry });
    for (const transport of [http, tcp]) {
      const { leaks, codes } = await everyRoute(transport);
      expect(leaks).toEqual([]);
      expect(codes).toContain("redis_unreachable");
    }
    await tcp.close();
  });
});

it("what a caller sends wrongly is not repeated to him, nor logged", async () => {
  listen();
  const served = await serve();
  const path = "/v1/queues/q";
  for (const raw of [
    `{"payload": ${hidden.payload}}`,
    `{"payload": "${hidden.payload}"`,
    `{"payload": 1, "headers": {"trace": ["${hidden.header}"]}}`,
    `{"payload": "${hidden.payload}", "encoding": "base64"}`,
    `{"payload": "${hidden.payload}", "delay": "${hidden.payload}", "id": "${hidden.payload} ", "lease": "${hidden.payload}"}`,
    `{"payload": "${hidden.payload}", "headers": {"a": "${"x".repeat(20_000)}${hidden.header}"}}`,
    `{"payload": "${hidden.payload.repeat(50_000)}"}`,
  ]) {
    const answer = await served.ask("POST", `${path}/tasks`, { raw });
    expect([answer.status >= 400, shown(deep(answer))]).toEqual([true, []]);
  }
  for (const json of [
    { settlements: [{ receipt: `0.0.${hidden.lease}`, outcome: "complete" }] },
    { settlements: [{ receipt: `1.1.7.${hidden.lease}.a`, outcome: hidden.result }] },
    { settlements: [], pull: { token: `${hidden.pullToken} ` } },
  ]) {
    const answer = await served.ask("POST", `${path}/tasks/settle`, { json });
    expect([answer.status, shown(deep(answer))]).toEqual([400, []]);
  }
  for (const authorization of [secrets.all, `Basic ${secrets.all}`, `Bearer ${secrets.all}x`]) {
    const answer = await served.ask("GET", path, { as: null, headers: { authorization } });
    expect([answer.status, shown(deep(answer))]).toEqual([401, []]);
  }
  const key = await served.ask("POST", `${path}/pause`, {
    headers: { "idempotency-key": `${hidden.pullToken} x` },
  });
  expect([key.status, shown(deep(key)), shown(said)]).toEqual([400, [], []]);
  await served.stop();
});

it("a waker and its refusals tell of no secret, nor does what fails for them", async () => {
  listen();
  const secret = `whsec_${hidden.wake}`;
  way = (body, headers) => ({ status: 500, body: all(body, headers) });
  const { wake } = webhookWaker({ url: `${url}/wake`, secret, timeout: "1s" });
  const failure = await Promise.resolve(wake("emails")).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect([shown(deep(failure)), shown(said)]).toEqual([[], []]);
  const signed = await signedHeaders(await signingKey(secret), "wake_1", "{}");
  expect(shown(deep(signed))).toEqual([]);
  for (const wrong of [`whsec_${hidden.wake}%`, hidden.wake, `whsec_${hidden.wake.slice(0, 20)}`]) {
    const refused = await signingKey(wrong).catch((error: unknown) => error);
    expect([refused instanceof Error, shown(deep(refused))]).toEqual([true, []]);
  }
  expect(deep(await signingKey(secret))).not.toContain(hidden.wake);
});

it("sluice serve writes none of it, whatever its Redis and its callers do", async () => {
  way = ways["an unknown command, with its arguments"]!;
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const child = spawn(
    process.execPath,
    [main, "serve", "--port", "0", "--host", "127.0.0.1", "--every", "1s"],
    {
      env: {
        PATH: process.env["PATH"],
        UPSTASH_REDIS_REST_URL: url,
        UPSTASH_REDIS_REST_TOKEN: hidden.redisToken,
        SLUICE_TOKENS: JSON.stringify(tokens),
        CRON_SECRET: secrets.cron,
        SLUICE_WAKE_SECRET: `whsec_${hidden.wake}`,
        SLUICE_WAKE_URL: `${url}/wake`,
      },
    },
  );
  let written = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (written += chunk.toString()));
  }
  const ended = once(child, "close");
  await expect.poll(() => /answers at (\S+)/.exec(written)?.[1], { timeout: 20_000 }).toBeDefined();
  const at = /answers at (\S+)/.exec(written)![1]!;
  const ask = asker((request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(`${at}${pathname}${search}`, request));
  });
  for (const words of Object.values(ways).slice(0, 3)) {
    way = words;
    for (const [route, json] of Object.entries(bodies)) {
      const [method = "", path = ""] = route.split(" ");
      const answer = await ask(method, path.replace(":queue", "q").replace(":schedule", "s"), { json });
      expect([route, answer.status >= 500, shown(deep(answer))]).toEqual([route, true, []]);
    }
  }
  const wake = await ask("POST", "/wake", { as: null, json: { type: "sluice.wake", data: { queue: "q" } } });
  expect([wake.status, shown(deep(wake))]).toEqual([401, []]);
  child.kill("SIGTERM");
  await ended;
  // It did tell of faults.
  expect(written).toContain('"code":"redis_error"');
  expect(shown(written)).toEqual([]);
});

it("the local gateway logs none of it, also where its Redis goes away under what it was sent", async () => {
  const redis = await startRedis();
  let logged = "";
  const gateway = await startGateway({
    redisUrl: redis.url,
    token: hidden.redisToken,
    log: (line) => void (logged += `${line}\n`),
  });
  const send = (path: string, body: string, token: string = hidden.redisToken) =>
    fetch(`${gateway.url}${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
  const refused = await send("/", JSON.stringify(["GET", "k"]), secrets.admin);
  expect([refused.status, shown(await refused.text())]).toEqual([401, []]);
  expect((await send("/", JSON.stringify(["SET", "k", hidden.payload]))).status).toBe(200);
  await redis.stop();
  const bodies = [
    ["SET", "k", hidden.payload],
    ["EVAL", `error('${hidden.payload}')`, "0"],
  ].map((one) => JSON.stringify(one));
  for (const body of [...bodies, `{"${hidden.payload}"`, `["${hidden.payload}"]`]) {
    const answer = await send("/", body);
    expect([answer.status >= 400, shown(await answer.text()).includes("redisToken")]).toEqual([true, false]);
  }
  await gateway.close();
  // It did tell that Redis has gone.
  expect([logged === "", shown(logged)]).toEqual([false, []]);
});
