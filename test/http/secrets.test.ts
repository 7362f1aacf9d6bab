import { debounce } from "../../src/features/debounce/index.ts";
import { flows } from "../../src/http/flows/index.ts";
import { defineEndpoints } from "../../src/http/endpoints/index.ts";
import { endpointRoutes } from "../../src/http/routes/endpoints.ts";
import { flowRoutes } from "../../src/http/routes/flows.ts";
import { topicRoutes } from "../../src/http/routes/topics.ts";
import { topics } from "../../src/http/topics/index.ts";
import { operations } from "../../src/http/operations/index.ts";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { signedHeaders, signingKey } from "../../src/signature.ts";
import { webhookWaker } from "../../src/index.ts";
import { createApp } from "../../src/http/app.ts";
import { problems } from "../../src/http/problems/codes.ts";
import { requestFailed } from "../../src/log/lines.ts";
import { toConsole } from "../../src/log/logger.ts";
import { resp } from "../../src/transports/resp.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { callables } from "./access-rows.ts";
import { bodies, deep, hidden, shown, useRepeatingRedis, ways } from "./repeating-redis.ts";
import { type Answer, asker, secrets, serve, tokens } from "./served.ts";

// A Redis that repeats every request tries to bring hidden values into an answer, a log or an error.

const repeating = useRepeatingRedis();
const methods = ["log", "info", "warn", "error", "debug", "trace"] as const;
let said = "";
afterEach(() => vi.restoreAllMocks());
function listen() {
  said = "";
  for (const name of methods) {
    vi.spyOn(console, name).mockImplementation((...words) => void (said += `${words.map(deep).join(" ")}\n`));
  }
}
const ofRedis = callables.filter(({ scopes, route }) => scopes.length > 0 || route === "GET /health");

const endpoints = defineEndpoints();

/** Calls every route. Returns what its answers, the reports and the console show of the hidden values. */
async function everyRoute(transport: Parameters<typeof createApp>[0]["transport"]) {
  listen();
  const leaks: string[] = [];
  const codes = new Set<string>();
  const app = createApp({
    operations,
    debounce,
    flows: { ...flows, routes: flowRoutes },
    parts: [
      { ...topics, routes: topicRoutes },
      { ...endpoints, routes: endpointRoutes(endpoints) },
    ],
    transport,
    tokens,
    cronSecret: secrets.cron,
    onError(fault) {
      toConsole(requestFailed(fault));
      const found = shown(deep(fault));
      if (found.length > 0) leaks.push(`report of ${fault.route}: ${found.join()}`);
    },
  });
  const ask = asker((request) => app.fetch(request));
  await Promise.all(
    ofRedis.map(async ({ route, method, path, json, scopes, withoutRedis }) => {
      const as = scopes[0] === "cron" ? "cron" : "all";
      const answer = await ask(method, path("q"), { as, json: bodies[route] ?? json });
      if (answer.status >= 400 && !withoutRedis) codes.add(answer.body.code);
      const found = shown(`${deep([...answer.headers])} ${deep(answer.body)}`);
      if (found.length > 0) leaks.push(`${route} ${answer.status}: ${found.join()}`);
    }),
  );
  const onConsole = shown(said);
  if (onConsole.length > 0) leaks.push(`console: ${onConsole.join()}`);
  return { leaks, codes };
}

describe("no secret and no payload shows in an answer, a report or a log if Redis answers every route with", () => {
  const retry = { deadline: 150, firstWait: 1, longestWait: 1 };
  const overHttp = () => upstash({ url: repeating.url, token: hidden.redisToken }, { retry });

  it.each(Object.entries(ways))("%s", async (_, words) => {
    repeating.way = words;
    const { leaks, codes } = await everyRoute(overHttp());
    expect(leaks).toEqual([]);
    // The requests did reach Redis, and every code is documented.
    expect(codes.size).toBeGreaterThan(0);
    expect([...codes].filter((code) => !Object.hasOwn(problems, code))).toEqual([]);
    expect(said).toContain('"code":');
  });

  it("nothing, until the deadline", async () => {
    repeating.way = undefined;
    const { leaks, codes } = await everyRoute(overHttp());
    expect([leaks, [...codes]]).toEqual([[], ["redis_unreachable"]]);
  });

  it("no connection at all, by either transport", async () => {
    const http = upstash({ url: "http://127.0.0.1:1", token: hidden.redisToken }, { retry });
    const tcp = resp({ url: `redis://user:${hidden.redisPassword}@127.0.0.1:1`, retry });
    for (const transport of [http, tcp]) {
      const { leaks, codes } = await everyRoute(transport);
      expect([leaks, codes.has("redis_unreachable")]).toEqual([[], true]);
    }
    await tcp.close();
  });
});

it("invalid input is neither repeated to the client nor logged", async () => {
  listen();
  const served = await serve();
  onTestFinished(() => served.stop());
  const { payload, header, lease, pullToken } = hidden;
  const settled = (settlement: object) => JSON.stringify({ settlements: [settlement] });
  const headers = { a: `${"x".repeat(20_000)}${header}` };
  const raws: Record<string, readonly string[]> = {
    tasks: [
      `{"payload": ${payload}}`,
      `{"payload": "${payload}"`,
      JSON.stringify({ payload: 1, headers: { trace: [header] } }),
      JSON.stringify({ payload, encoding: "base64" }),
      JSON.stringify({ payload, delay: payload, id: `${payload} `, lease: payload }),
      JSON.stringify({ payload, headers }),
      JSON.stringify({ payload: payload.repeat(50_000) }),
    ],
    "tasks/settle": [
      settled({ receipt: `0.0.${lease}`, outcome: "complete" }),
      settled({ receipt: `1.1.7.${lease}.a`, outcome: hidden.result }),
      JSON.stringify({ settlements: [], pull: { token: `${pullToken} ` } }),
    ],
  };
  const answers: Answer[] = [];
  for (const [path, all] of Object.entries(raws))
    for (const raw of all) answers.push(await served.ask("POST", `/v1/queues/q/${path}`, { raw }));
  for (const authorization of [secrets.all, `Basic ${secrets.all}`, `Bearer ${secrets.all}x`])
    answers.push(await served.ask("GET", "/v1/queues/q", { as: null, headers: { authorization } }));
  const key = { headers: { "idempotency-key": `${pullToken} x` } };
  answers.push(await served.ask("POST", "/v1/queues/q/pause", key));
  for (const answer of answers) expect([answer.status >= 400, shown(deep(answer))]).toEqual([true, []]);
  expect(shown(said)).toEqual([]);
});

it("a waker shows no secret, neither in its refusals nor in its errors", async () => {
  listen();
  const secret = `whsec_${hidden.wake}`;
  repeating.way = ({ all }) => ({ status: 500, body: all });
  const { wake } = webhookWaker({ url: `${repeating.url}/wake`, secret, timeout: "30s" });
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
