import { createHash } from "node:crypto";
import { afterEach, describe, expect, test, vi } from "vitest";
import type { Environment } from "../../src/config.ts";
import { Service, type Platform } from "../../src/deploy/service.ts";
import { runHere } from "../cli/run-here.ts";
import { consoleLines } from "../support/console-lines.ts";
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

/** Three instances with consumers, which a deployment replaces one after another, with requests to each between. */
class Deployed {
  readonly #platform: Partial<Platform>;
  readonly #call: (fetch: (request: Request) => Promise<Response>) => Promise<Response>;
  #instances: Service[] = [];
  #turn = 0;
  /** The statuses of all answers, each once. */
  readonly statuses = new Set<number>();

  constructor(call: (fetch: (request: Request) => Promise<Response>) => Promise<Response>, platform = {}) {
    this.#call = call;
    this.#platform = platform;
  }

  /** Sends a request to the next instance in turn. */
  fetch(request: Request): Promise<Response> {
    return this.#instances[this.#turn++ % 3]!.fetch(request);
  }

  async deploy(env: Environment): Promise<void> {
    const make = () =>
      new Service<Environment>(
        { ...redis, ...env },
        { consumers: { emails: () => {} } },
        { transport: () => rig.transport, budget: "20s", afterResponse: "none", ...this.#platform },
      );
    if (this.#instances.length === 0) this.#instances = [make(), make(), make()];
    for (const at of this.#instances.keys()) {
      this.#instances[at] = make();
      await this.callEach();
    }
  }

  async callEach(): Promise<void> {
    for (let i = 0; i < 3; i++)
      this.statuses.add((await this.#call((request) => this.fetch(request))).status);
  }
}

const post = (path: string, token: string, body?: object) =>
  new Request(`https://sluice.test${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });

const ENQUEUE = ["--scopes", "enqueue", "--queues", "emails"];

describe("without a request refused", () => {
  test("a token is changed: both are listed, callers change, the old one goes", async () => {
    const [old, next] = [await sluiceToken(...ENQUEUE), await sluiceToken(...ENQUEUE)];
    const env = (...entries: unknown[]) => ({ SLUICE_TOKENS: JSON.stringify(entries.flat()) });
    let inUse = old.token;
    const request = (token: string) => post("/v1/queues/emails/tasks", token, { payload: 1 });
    const deployed = new Deployed((fetch) => fetch(request(inUse)));
    await deployed.deploy(env(old.entries));
    await deployed.deploy(env(old.entries, next.entries));
    inUse = next.token;
    await deployed.callEach();
    await deployed.deploy(env(next.entries));
    expect(deployed.statuses).toEqual(new Set([201]));
    expect((await deployed.fetch(request(old.token))).status).toBe(401);
  });

  test("the cron secret is changed: both are known, the cron changes, the old one goes", async () => {
    const [old, next] = ["cron-old-0123456789", "cron-next-0123456789"];
    let inUse = old;
    const deployed = new Deployed((fetch) => fetch(post("/v1/sweep", inUse)));
    await deployed.deploy({ CRON_SECRET: old });
    await deployed.deploy({ CRON_SECRET: `${old} ${next}` });
    inUse = next;
    await deployed.callEach();
    await deployed.deploy({ CRON_SECRET: next });
    expect(deployed.statuses).toEqual(new Set([200]));
    for (const refused of [old, `${old} ${next}`])
      expect((await deployed.fetch(post("/v1/sweep", refused))).status).toBe(401);
  });

  test("the wake secret is changed: known everywhere first, then signed with, then the old one goes", async () => {
    vi.spyOn(console, "info").mockImplementation(() => {});
    const failed = consoleLines("warn", "error");
    const old = `whsec_${btoa("the old secret of 24 bytes and more")}`;
    const next = `whsec_${btoa("the next secret of 24 bytes or more")}`;
    const token = "all-0123456789abcdef";
    const SLUICE_TOKENS = JSON.stringify([{ token, scopes: ["enqueue"], queues: "*" }]);
    const woken: number[] = [];
    // Instances wake each other, as those of one deployment do.
    const wakeFetch = async (request: Request) => {
      const answer = await deployed.fetch(request);
      woken.push(answer.status);
      return answer;
    };
    // The consumer has run out of tasks when the call is answered, so that the next one wakes it again.
    const deployed: Deployed = new Deployed(
      (fetch) => fetch(post("/v1/queues/emails/tasks", token, { payload: 1 })),
      { wakeFetch },
    );
    for (const secrets of [old, `${old} ${next}`, `${next} ${old}`, next]) {
      await deployed.deploy({ SLUICE_WAKE_SECRET: secrets, SLUICE_TOKENS });
    }
    expect(deployed.statuses).toEqual(new Set([201]));
    // Each instance has been called three times after each replacement, and has woken the next one.
    expect(woken).toEqual(Array.from({ length: 4 * 3 * 3 }, () => 200));
    expect(failed).toEqual([]);
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
