import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Service, type Platform, type ServiceOptions } from "../../../src/deploy/service.ts";
import { defineAlerts, type Alert } from "../../../src/features/alerts/index.ts";
import { defineQueue, type Transport } from "../../../src/index.ts";
import { testDeployment } from "../../../src/testing/index.ts";
import { useRig } from "../../support/rig.ts";

// A deployment with alerts, in real time.
const rig = useRig();
const cronSecret = "a-secret-of-cron-1";
const env = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "t",
  CRON_SECRET: cronSecret,
  TEAM: "ops",
};
type Env = typeof env;

let sent: string[];
/** The commands and scripts of each request. */
let requests: string[][];
beforeEach(() => {
  sent = [];
  requests = [];
  vi.spyOn(console, "info").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());

function deployment(options: ServiceOptions<Env>, platform: Partial<Platform> = {}) {
  const transport = (): Transport => ({
    send: (commands, sending) => {
      requests.push(commands.map((one) => ("script" in one ? one.script.name : one[0])));
      return rig.transport.send(commands, sending);
    },
  });
  return new Service<Env>(env, options, {
    transport,
    budget: "10s",
    afterResponse: "bounded",
    ...platform,
  });
}

const rules = [{ when: { pending: { above: 0 } } }];
const alerts = defineAlerts({
  rules,
  send: ({ TEAM }: Env) => [(alert: Alert) => void sent.push(`${TEAM}: ${alert.type} ${alert.queue}`)],
});
const enqueue = () => rig.queue({ now: undefined }).enqueue(1);

test("cron evaluates the rules after its sweep, with receivers from the environment", async () => {
  await enqueue();
  await deployment({ alerts }).cron();
  expect(sent).toEqual(["ops: alert.firing emails"]);
  const order = requests.flat();
  expect(order.indexOf("beginAlerts")).toBeGreaterThan(order.indexOf("sweep"));
});

test("a deployment without alerts runs no command for them", async () => {
  await enqueue();
  await deployment({}).cron();
  expect(requests).toEqual([["listQueues"], ["sweep"]]);
});

test("the sweep of one queue, for an alarm, evaluates no rules", async () => {
  await enqueue();
  await deployment({ alerts }).ring("sweep", "emails");
  expect(requests.flat()).not.toContain("beginAlerts");
});

test.each(["GET", "POST"])(
  "%s /v1/sweep evaluates the rules, as cron is that request on some platforms",
  async (method) => {
    await enqueue();
    const headers = { authorization: `Bearer ${cronSecret}` };
    const request = new Request("https://sluice.test/v1/sweep", { method, headers });
    const response = await deployment({ alerts }).fetch(request);
    expect(response.status).toBe(200);
    expect(sent).toEqual(["ops: alert.firing emails"]);
  },
);

test("the response to a sweep does not wait for receivers if the platform has waitUntil", async () => {
  await enqueue();
  let release = () => {};
  const hanging = defineAlerts({ rules, send: [() => new Promise<void>((resolve) => (release = resolve))] });
  const after: Promise<unknown>[] = [];
  const headers = { authorization: `Bearer ${cronSecret}` };
  const request = new Request("https://sluice.test/v1/sweep", { method: "POST", headers });
  const response = await deployment({ alerts: hanging }).fetch(request, (work) => after.push(work));
  expect(response.status).toBe(200);
  expect(after).toHaveLength(1);
  await vi.waitFor(() => expect(requests.flat()).toContain("putRecords"));
  release();
  await Promise.all(after);
});

test("an invalid receiver, or rules that are not defined, are an error at the start", () => {
  const wrong = defineAlerts({ rules, send: (() => ["slack"]) as never });
  expect(() => deployment({ alerts: wrong })).toThrow(
    "alerts.send[0] must be webhook(…), slack(…) or a function that takes an alert",
  );
  expect(() => deployment({ alerts: { rules } as never })).toThrow(
    "alerts must be what defineAlerts of sluice-queue/alerts returns",
  );
});

test("a deployment in a test sends no alerts", async () => {
  const queues = [defineQueue("emails")];
  const tested = testDeployment<Env>({ alerts, queues }, { env });
  await tested.queue("emails").enqueue(1);
  await tested.run();
  expect(sent).toEqual([]);
});
