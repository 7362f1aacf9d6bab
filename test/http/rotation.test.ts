import { createHash } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Environment } from "../../src/config.ts";
import { Service, type Platform } from "../../serverless/deployment/service.ts";
import { runHere } from "../cli/run-here.ts";
import { useRig } from "../support/rig.ts";

// Secrets that are changed while requests go on, instance by instance, as docs/deployments.md says.

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

/** What `sluice token` makes. */
async function sluiceToken(...args: string[]) {
  const { code, out, err } = await runHere(["token", ...args], {});
  const [, token = ""] = /^SLUICE_TOKEN=(\S+)$/m.exec(out) ?? [];
  const [, entries = "[]"] = /^SLUICE_TOKENS='(.*)'$/m.exec(out) ?? [];
  return { code, out, err, token, entries: JSON.parse(entries) as Record<string, unknown>[] };
}

const redis = { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: "unused" };
const service = (
  env: Environment,
  platform: Partial<Platform> = {},
  consumers?: Record<string, () => unknown>,
) =>
  new Service<Environment>(
    { ...redis, ...env },
    { consumers },
    { transport: () => rig.transport, budget: "20s", afterResponse: "none", ...platform },
  );

/** Three instances. A deployment replaces one after another, with some requests between. */
class Deployed {
  readonly #make: (env: Environment) => Service;
  readonly instances: Service[];
  #turn = 0;

  constructor(make: (env: Environment) => Service, env: Environment) {
    this.#make = make;
    this.instances = [1, 2, 3].map(() => make(env));
  }

  /** Sends a request to the next instance in turn. */
  fetch(request: Request): Promise<Response> {
    return this.instances[this.#turn++ % this.instances.length]!.fetch(request);
  }

  async replace(env: Environment, traffic: Traffic): Promise<void> {
    for (const at of this.instances.keys()) {
      this.instances[at] = this.#make(env);
      await traffic.some();
    }
  }
}

/** Calls without a pause, four at once, until it is stopped. */
class Traffic {
  readonly statuses = new Map<number, number>();
  #count = 0;
  #over = false;
  readonly #callers: Promise<void>[];

  constructor(call: () => Promise<number>) {
    this.#callers = [1, 2, 3, 4].map(async () => {
      while (!this.#over) {
        const status = await call();
        this.#count++;
        this.statuses.set(status, (this.statuses.get(status) ?? 0) + 1);
      }
    });
  }

  /** Waits until so many more have been answered, by every instance. */
  async some(): Promise<void> {
    const enough = this.#count + 20;
    while (this.#count < enough) await new Promise((resolve) => setTimeout(resolve, 1));
  }

  async stop(): Promise<number[]> {
    this.#over = true;
    await Promise.all(this.#callers);
    return [...this.statuses.keys()];
  }
}

const post = (path: string, token: string, body?: object) =>
  new Request(`https://sluice.test${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

describe("without a request refused", () => {
  test("a token is changed: both are listed, callers change, the old one goes", async () => {
    const made = async () => {
      const { token, entries } = await sluiceToken("--scopes", "enqueue", "--queues", "emails");
      return { token, entry: entries[0] };
    };
    const [old, next] = [await made(), await made()];
    const env = (...entries: unknown[]) => ({ SLUICE_TOKENS: JSON.stringify(entries) });

    const deployed = new Deployed((one) => service(one), env(old.entry));
    let inUse = old.token;
    const enqueue = async (token: string) =>
      (await deployed.fetch(post("/v1/queues/emails/tasks", token, { payload: 1 }))).status;
    const traffic = new Traffic(() => enqueue(inUse));
    await traffic.some();
    await deployed.replace(env(old.entry, next.entry), traffic);
    inUse = next.token;
    await traffic.some();
    await deployed.replace(env(next.entry), traffic);
    expect(await traffic.stop()).toEqual([201]);
    expect([await enqueue(old.token), await enqueue(next.token)]).toEqual([401, 201]);
    const { pending } = await rig.queue({ now: undefined }).counts();
    expect(pending).toBe(traffic.statuses.get(201)! + 1);
  });

  test("the cron secret is changed: both are known, the cron changes, the old one goes", async () => {
    const [old, next] = ["cron-old-0123456789", "cron-next-0123456789"];
    const deployed = new Deployed((one) => service(one), { CRON_SECRET: old });
    let inUse = old;
    const sweep = async (secret: string) => (await deployed.fetch(post("/v1/sweep", secret))).status;
    const traffic = new Traffic(() => sweep(inUse));
    await traffic.some();
    await deployed.replace({ CRON_SECRET: `${old} ${next}` }, traffic);
    inUse = next;
    await traffic.some();
    await deployed.replace({ CRON_SECRET: next }, traffic);
    expect(await traffic.stop()).toEqual([200]);
    expect([await sweep(old), await sweep(next), await sweep(`${old} ${next}`)]).toEqual([401, 200, 401]);
  });

  test("the wake secret is changed: known everywhere first, then signed with, then the old one goes", async () => {
    vi.spyOn(console, "log").mockImplementation(() => {});
    const failed = vi.spyOn(console, "error").mockImplementation(() => {});
    const old = `whsec_${btoa("the old secret of 24 bytes and more")}`;
    const next = `whsec_${btoa("the next secret of 24 bytes or more")}`;
    const answers: number[] = [];
    // Instances with consumers, which wake each other, as one deployment does.
    const wakeFetch = async (request: Request) => {
      const answer = await deployed.fetch(request);
      answers.push(answer.status);
      return answer;
    };
    const consumers = { emails: () => {} };
    const tokens = JSON.stringify([{ token: "all-0123456789abcdef", scopes: ["enqueue"], queues: "*" }]);
    const env = (SLUICE_WAKE_SECRET: string) => ({ SLUICE_WAKE_SECRET, SLUICE_TOKENS: tokens });
    const deployed = new Deployed((one) => service(one, { wakeFetch }, consumers), env(old));
    const traffic = new Traffic(async () => {
      const request = post("/v1/queues/emails/tasks", "all-0123456789abcdef", { payload: 1 });
      const { status } = await deployed.fetch(request);
      // The consumer has to run out of tasks meanwhile: while it counts as active, no wake goes out.
      await new Promise((resolve) => setTimeout(resolve, 20));
      return status;
    });
    await traffic.some();
    for (const secrets of [`${old} ${next}`, `${next} ${old}`, next]) {
      const before = answers.length;
      await deployed.replace(env(secrets), traffic);
      await vi.waitUntil(() => answers.length > before, { timeout: 20_000 });
    }
    expect([await traffic.stop(), [...new Set(answers)], failed.mock.calls]).toEqual([[201], [200], []]);
  });
});

describe("sluice token", () => {
  test("makes a token of 256 random bits, and keeps only its SHA-256", async () => {
    const args = ["--scopes", "consume, enqueue", "--queues", "emails-*"];
    const { token, entries, out, err } = await sluiceToken(...args);
    expect(token).toMatch(/^sluice_[\w-]{43}$/);
    const sha256 = createHash("sha256").update(token).digest("hex");
    expect(entries).toEqual([{ sha256, scopes: ["consume", "enqueue"], queues: "emails-*" }]);
    expect([out.split(token).length, err]).toEqual([2, ""]);
    const hiding = await sluiceToken("--scopes", "view", "--queues", "*", "--hide-payloads");
    expect(hiding.entries).toMatchObject([{ scopes: ["view"], queues: "*", payloads: "hidden" }]);
  });

  const allowed = "--scopes must be enqueue, consume, view or admin";
  test.each([
    [[], "--scopes <list> is required"],
    [["--scopes", "admin"], "--queues <pattern> is required"],
    [["--scopes", "root", "--queues", "*"], allowed],
    [["--scopes", "", "--queues", "*"], allowed],
    [["--scopes", "admin", "--queues", "{a}"], "--queues must be a pattern of queue names, such as emails,"],
  ])("refuses %j, and says what is allowed", async (args, message) => {
    const { code, err } = await sluiceToken(...args);
    expect([code === 0, err.includes(message)]).toEqual([false, true]);
  });
});
