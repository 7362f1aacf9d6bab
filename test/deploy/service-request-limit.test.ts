import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { sluice, type ServiceOptions } from "../../serverless/cloudflare.ts";
import { Queue } from "../../src/index.ts";
import { startGateway, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { consoleLines } from "../support/console-lines.ts";
import { limitedInvocations } from "../support/limited-invocations.ts";
import { numbered } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";

// A Worker of Cloudflare's free plan, with the defaults: each invocation may send 50 requests.

const rig = useRig({ checkInvariants: false });
let gateway: Gateway;
let env: Record<string, string>;
/** A new name for each test, because an instance remembers which queues it has registered. */
let emails: string;
let tests = 0;

beforeAll(async () => {
  gateway = await startGateway({ redisUrl: rig.redis.url });
  env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify([{ token: "t".repeat(32), scopes: ["enqueue", "admin"], queues: "*" }]),
  };
});
beforeEach(() => {
  emails = `emails-${++tests}`;
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());
afterAll(() => gateway.close());

const open = (name: string) =>
  new Queue<number>(name, { transport: upstash({ url: gateway.url, token: gateway.token }) });

const ids = (count: number) => numbered(count).map(({ id }) => id);
const left = { pending: 0, working: 0, delayed: 0, rejected: 0 };

/** The lines that the deployment logs. */
function logged(): Record<string, unknown>[] {
  return consoleLines("info", "warn");
}

/** Runs cron, each time in a new invocation, until nothing is pending. */
async function cronUntilEmpty(
  options: ServiceOptions,
  names: readonly string[],
  its: ReturnType<typeof limitedInvocations>,
): Promise<number> {
  const app = sluice(options as never);
  // Over TCP, so that it is no request of an invocation.
  const pending = async () => {
    let count = 0;
    for (const name of names) count += Number(await rig.command("LLEN", `sluice:{${name}}:pending`));
    return count;
  };
  let runs = 0;
  do {
    // A minute later, no consumer counts as awake.
    for (const name of names) await rig.command("HDEL", `sluice:{${name}}:tasks`, "~wake");
    its.begin();
    await app.scheduled({}, env);
    expect(++runs).toBeLessThan(60);
  } while ((await pending()) > 0);
  return runs;
}

test.each([Infinity, 7])(
  "cron sends every mail once (of %d requests to Redis one loses its reply)",
  async (drops) => {
    await open(emails).enqueueMany(numbered(120));
    const lines = logged();
    const its = limitedInvocations(50, { drops });
    const runs = await cronUntilEmpty({ consumers: { [emails]: ({ id }) => its.mail(id) } }, [emails], its);
    vi.restoreAllMocks();
    expect(its.mails.toSorted()).toEqual(ids(120).toSorted());
    expect(Math.max(...its.sent)).toBeLessThanOrEqual(50);
    expect(await open(emails).counts()).toMatchObject(left);
    expect(runs).toBeGreaterThan(2);
    expect(runs).toBeLessThan(10);
    const notes = lines.filter(({ note }) => note !== undefined);
    expect(notes).toEqual([
      { requests: 50, note: expect.stringMatching(/sluice\(\{ requests: 1000 \}\)/) as string },
    ]);
  },
);

test("the consumers of several queues, and hooks that send requests too, share the limit", async () => {
  const names = ["one", "two", "three"];
  for (const name of names) await open(name).enqueueMany(numbered(30));
  logged();
  const its = limitedInvocations(50);
  const failed: string[] = [];
  const consumers = Object.fromEntries(
    names.map((name) => [
      name,
      {
        backoff: ["1h"] as const,
        handler: async ({ id }: { id: string }) => {
          if (id === "t5") throw new Error("no such address");
          await its.mail(`${name} ${id}`);
        },
      },
    ]),
  );
  const onFailure = async ({ queue, id }: { queue: string; id: string }) => {
    await its.mail(`failed: ${queue} ${id}`);
    failed.push(`${queue} ${id}`);
  };
  await cronUntilEmpty({ consumers, onFailure }, names, its);
  vi.restoreAllMocks();
  const sent = names.flatMap((name) =>
    ids(30).map((id) => (id === "t5" ? `failed: ${name} t5` : `${name} ${id}`)),
  );
  expect(its.mails.toSorted()).toEqual(sent.toSorted());
  expect(failed.toSorted()).toEqual(names.map((name) => `${name} t5`).toSorted());
  expect(Math.max(...its.sent)).toBeLessThanOrEqual(50);
  for (const name of names) expect(await open(name).counts()).toMatchObject({ ...left, delayed: 1 });
});

test.each([
  ["a request that enqueues", () => `/v1/queues/${emails}/tasks`, { payload: 1 }, 121],
  ["a requested sweep", () => "/v1/sweep", {}, 120],
])("%s, and the consumer after its response, share the limit", async (_, path, body, mails) => {
  await open(emails).enqueueMany(numbered(120));
  logged();
  const its = limitedInvocations(50);
  const app = sluice({ consumers: { [emails]: ({ id }: { id: string }) => its.mail(id) } });
  const headers = { authorization: `Bearer ${"t".repeat(32)}`, "content-type": "application/json" };
  its.begin();
  const after: Promise<unknown>[] = [];
  const context = { waitUntil: (promise: Promise<unknown>) => void after.push(promise) };
  const request = new Request(`https://sluice.test${path()}`, {
    method: "POST",
    headers,
    body: JSON.stringify(body),
  });
  const response = await app.fetch(request, env, context);
  expect(response.ok).toBe(true);
  while (after.length > 0) await after.shift();
  expect(its.mails.length).toBeGreaterThan(20);
  expect(Math.max(...its.sent)).toBeLessThanOrEqual(50);
  await cronUntilEmpty({ consumers: { [emails]: ({ id }: { id: string }) => its.mail(id) } }, [emails], its);
  vi.restoreAllMocks();
  expect(new Set(its.mails).size).toBe(its.mails.length);
  expect(its.mails.length).toBe(mails);
  expect(await open(emails).counts()).toMatchObject(left);
});

test("a paid plan sets a higher limit, and works on all in one invocation", async () => {
  await open(emails).enqueueMany(numbered(120));
  const lines = logged();
  const its = limitedInvocations(1_000);
  const options = { requests: 1_000, consumers: { [emails]: ({ id }: { id: string }) => its.mail(id) } };
  expect(await cronUntilEmpty(options as never, [emails], its)).toBe(1);
  vi.restoreAllMocks();
  expect(its.mails.toSorted()).toEqual(ids(120).toSorted());
  expect(lines.filter(({ note }) => note !== undefined)).toEqual([]);
});

test.each([29, 30.5, "50"])("the limit %j is refused", (requests) => {
  expect(() => sluice({ requests: requests as number })).toThrow("requests must be a whole number from 30");
});

test("a consumer whose tasks need more requests than there are is refused", () => {
  const consumers = { emails: { requestsPerTask: 30, handler: () => {} } };
  expect(() => sluice({ consumers })).toThrow("consumers.emails.requests must be at least 36");
});
