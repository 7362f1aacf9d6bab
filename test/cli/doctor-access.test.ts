import { createHash } from "node:crypto";
import { writeFile } from "node:fs/promises";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { createApp } from "../../src/http/index.ts";
import { operations } from "../../src/http/operations/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { closedPort, listening } from "../support/listening.ts";
import { skipWaits } from "../support/skip-waits.ts";
import { startRedis } from "../support/redis.ts";
import { useFolder } from "../support/folder.ts";
import { byAbout } from "./findings.ts";
import { against, ENQUEUE_TOKEN, TOKEN, useCli } from "./rig.ts";
import { type Ended, runHere } from "./run-here.ts";

const rig = useCli();
const folder = useFolder();

/** The advice for a deployment without CRON_SECRET. */
const needed = expect.stringMatching(/^on Vercel and with Next\.js set it: .*schedules do not start/);

describe("tokens", () => {
  const entry = { scopes: ["enqueue"], queues: "*" };
  const hashed = { sha256: createHash("sha256").update(TOKEN).digest("hex"), ...entry };
  const plain = { token: TOKEN, ...entry };
  const correct = "correct the variable; deployments answer 503 until then";

  test.each<[SLUICE_TOKENS: string | undefined, code: number, finding: readonly unknown[]]>([
    [undefined, 0, ["unknown", "SLUICE_TOKENS is not set here", expect.stringContaining("--env")]],
    [
      JSON.stringify([hashed, plain]),
      0,
      ["warning", "2 tokens in SLUICE_TOKENS, 1 in plain text", expect.stringContaining("sluice token")],
    ],
    ["[]", 0, ["warning", "0 tokens in SLUICE_TOKENS", expect.stringContaining("sluice token makes tokens")]],
    ["{", 1, ["problem", expect.stringContaining("SLUICE_TOKENS"), correct]],
    [
      JSON.stringify([{ ...plain, scopes: ["all"] }]),
      1,
      ["problem", expect.stringContaining("SLUICE_TOKENS"), correct],
    ],
    // As sluice token prints them, with their quotes.
    [`'${JSON.stringify([hashed])}'`, 0, ["ok", "1 token in SLUICE_TOKENS", undefined]],
  ])("of the environment: %s", async (SLUICE_TOKENS, code, finding) => {
    const env = { SLUICE_TOKENS, CRON_SECRET: "cron-0123456789abcdef" };
    const ended = await rig.to("the database").run(["doctor"], { env });
    expect([ended.code, byAbout(ended.rows)["tokens"]]).toEqual([code, finding]);
    expect(ended.out + ended.err).not.toContain(TOKEN);
  });

  test("of the deployment's file", async () => {
    const file = join(folder.path, ".env");
    const tokens = JSON.stringify([hashed]);
    await writeFile(file, `# comment\nSLUICE_TOKENS='${tokens}'\nCRON_SECRET="cron-0123456789abcdef"\n`);
    const { code, rows } = await rig.to("the database").sluice("doctor", "--env", file);
    expect([code, byAbout(rows)["tokens"]]).toEqual([0, ["ok", "1 token in SLUICE_TOKENS", undefined]]);
  });

  test("of a deployment's file without tokens nothing is said: the application has a login of its own", async () => {
    const file = join(folder.path, ".env");
    await writeFile(file, "SLUICE_PREFIX=sluice\n");
    const { code, rows } = await rig.to("the database").sluice("doctor", "--env", file);
    expect([code, byAbout(rows)["tokens"]]).toEqual([0, undefined]);
  });

  test.each<[CRON_SECRET: string, more: string, finding: readonly unknown[]]>([
    ["cron-0123456789abcdef", "", ["ok", "CRON_SECRET is set", undefined]],
    ["", "", ["unknown", "CRON_SECRET is not set", needed]],
    ["", "VERCEL_ENV=production", ["warning", "CRON_SECRET is not set", needed]],
  ])("of cron, in the deployment's file: '%s' %s", async (secret, more, finding) => {
    const file = join(folder.path, ".env");
    await writeFile(file, `CRON_SECRET=${secret}\n${more}\n`);
    const { code, rows } = await rig.to("the database").sluice("doctor", "--env", file);
    expect([code, byAbout(rows)["cron"]]).toEqual([0, finding]);
  });

  test("the commands of its advice have the deployment's file, too", async () => {
    const file = join(folder.path, ".env");
    await writeFile(file, "CRON_SECRET=cron-0123456789abcdef\n");
    await rig.operator().pause();
    const { text } = await rig.to("the database").onTerminal("doctor", "--env", file);
    expect(text.replaceAll(/\s+/g, " ")).toMatch(/→ sluice resume (?:--database )?--env \S+\/\.env emails /);
  });

  test("of cron, without the variables of the deployment: nothing is said", async () => {
    const { rows } = await rig.to("the database").sluice("doctor");
    expect(byAbout(rows)["cron"]).toBeUndefined();
  });

  test("of the caller: what it may do, and that Redis is not checked without the scope view", async () => {
    const whole = await rig.run(["doctor"]);
    expect(byAbout(whole.rows)["token"]).toEqual(["ok", "enqueue,consume,admin for *", undefined]);
    const { code, rows } = await rig.run(["doctor"], {
      env: { SLUICE_TOKEN: ENQUEUE_TOKEN },
    });
    expect([code, byAbout(rows)]).toEqual([
      0,
      {
        token: ["ok", "enqueue for emails*", undefined],
        Redis: ["unknown", "not checked", "use a token with the scope view"],
      },
    ]);
  });
});

describe("what cannot be reached ends with 3 and advice", () => {
  beforeEach(() => skipWaits());
  afterEach(() => void vi.restoreAllMocks());
  /** The advice about the connection, and what was written to the standard error output. */
  const failing = async (running: Promise<Ended>) => {
    const { code, rows, err } = await running;
    const [status, found, advice] = byAbout(rows)["connection"] ?? [];
    expect([code, status]).toEqual([3, "problem"]);
    return { found, advice, err };
  };

  test("a Redis that is not there", async () => {
    const host = `127.0.0.1:${await closedPort()}`;
    const url = `redis://:secret@${host}`;
    const { found, advice, err } = await failing(runHere(["doctor"], { REDIS_URL: url }));
    expect(found).toMatch(new RegExp(`^the database at ${host}: .*ECONNREFUSED`));
    expect(advice).toBe("is the URL right, does Redis run, and does a firewall keep this machine out?");
    expect(err).toMatch(new RegExp(`\nsluice: the database at ${host}: .*ECONNREFUSED`));
    expect(err).not.toContain("secret");
  });

  test("a Redis that does not answer", async () => {
    const silent = createServer(() => {});
    const port = await listening(silent);
    // A clock on which any time passes at once, because nothing but time ends the waiting.
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const state = { ended: false };
    const running = failing(runHere(["doctor"], { REDIS_URL: `redis://127.0.0.1:${port}` }));
    void running.finally(() => (state.ended = true));
    while (!state.ended) await vi.advanceTimersByTimeAsync(100);
    vi.useRealTimers();
    await running;
    silent.close();
  });

  test("a Redis that refuses the password", async () => {
    const redis = await startRedis();
    const transport = resp(redis.url);
    await transport.send([["CONFIG", "SET", "requirepass", "right"]]);
    await transport.close();
    const url = redis.url.replace("redis://", "redis://:wrong-password@");
    const { advice, err } = await failing(runHere(["doctor"], { REDIS_URL: url }));
    await redis.stop();
    expect(advice).toBe("check the password or token of Redis, and what its user may do");
    expect(err).not.toContain("wrong-password");
  });

  test("a token that the deployment does not know", async () => {
    const env = { SLUICE_TOKEN: "wrong-0123456789abcdef" };
    const { advice, err } = await failing(rig.run(["doctor"], { env }));
    expect(advice).toBe(
      "set SLUICE_TOKEN to a token that is in the deployment's SLUICE_TOKENS: sluice token makes one",
    );
    expect(err).not.toContain("wrong-");
  });

  test.each([
    ["neither tokens nor a secret of cron", undefined, ["unknown", "CRON_SECRET is not set", needed]],
    ["a secret of cron alone", "cron-0123456789abcdef", undefined],
  ])("a deployment that has %s", async (_, cronSecret, cron) => {
    const transport = { send: async () => [] };
    const app = createApp({ transport, tokens: [], cronSecret, operations });
    const ended = against((url) => app.fetch(new Request(url)), ["doctor"]);
    const { advice, err } = await failing(ended);
    expect(advice).toBe("set SLUICE_TOKENS in the environment of the deployment: sluice token makes one");
    expect(err).toMatch(
      cronSecret
        ? /sluice: The server has no SLUICE_TOKENS\. The route/
        : /sluice: The server has neither SLUICE_TOKENS nor CRON_SECRET\n/,
    );
    expect(byAbout((await ended).rows)["cron"]).toEqual(cron);
  });

  test.each([
    ["Vercel's Deployment Protection", "<h1>Authentication Required</h1>", { status: 401 }],
    ["a proxy with a login", null, { status: 401, headers: { "www-authenticate": "Basic" } }],
    ["a firewall", JSON.stringify({ error: "forbidden" }), { status: 403 }],
  ])("something in front of the deployment that asks for a login: %s", async (_, body, init) => {
    const { advice, err } = await failing(against(() => new Response(body, init), ["doctor"]));
    expect(advice).toBe(
      "let the paths of Sluice pass the login in front of it, such as that of a proxy; on Vercel use the domain of production, or turn Deployment Protection off",
    );
    expect(err).toContain(
      `the server answered HTTP ${init.status}, and not as Sluice does: something in front of https://sluice.test asks for a login`,
    );
    expect(err).not.toContain("Authentication Required");
  });

  test("a deployment whose Redis does not answer", async () => {
    rig.gateway.faults.add({ kind: "cut", match: { times: "always" } });
    const { advice, err } = await failing(rig.sluice("doctor"));
    expect(advice).toBe("the deployment answers; its Redis does not");
    expect(err).toContain("HTTP 504 (redis_unreachable)");
    expect(err).not.toContain("Is http");
  });
});

test("of a deployment whose clock is off, beside that of this machine", async () => {
  const off = {
    status: "warning",
    code: "clock_off",
    about: "clock",
    found: "this server is 7m ahead of Redis",
  };
  const replies: Record<string, object> = {
    "/v1/token": { grants: [{ scopes: ["view"], queues: "*" }] },
    "/v1/health/queues": {
      status: "warning",
      now: Date.now(),
      findings: [off],
      queues: [],
      truncated: false,
    },
    "/health": { status: "ok" },
  };
  const server = createHttpServer((request, response) => {
    response.setHeader("content-type", "application/json").end(JSON.stringify(replies[request.url ?? ""]));
  });
  const port = await listening(server);
  const { code, rows } = await runHere(["doctor"], {
    SLUICE_URL: `http://127.0.0.1:${port}`,
    SLUICE_TOKEN: "view-0123456789abcdef",
  });
  server.close();
  expect(code).toBe(0);
  expect(byAbout(rows)).toMatchObject({
    clock: ["ok", "this machine and Redis agree", undefined],
    "clock of the deployment": ["warning", "this server is 7m ahead of Redis", undefined],
  });
});
