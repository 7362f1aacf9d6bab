// Schedules that are due: what they publish, to whom, and what comes of it. Only sweeps run, by a clock that tests move.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Client, Receiver } from "@upstash/qstash";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { onDemand } from "../../src/deploy/on-demand.ts";
import { Service } from "../../src/deploy/service.ts";
import type { Command } from "../../src/kernel/transport.ts";
import { Operator } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { scriptsAt } from "../support/scripts-clock.ts";
import { type Received, SIGNING_KEYS, TOKEN } from "./rig.ts";

const rig = useRig({ checkInvariants: false });
const client = new Client({ baseUrl: "https://sluice.test", token: TOKEN, retry: false, devMode: false });

const MINUTE = 60_000;

let received: Received[];
let url: string;
/** How many requests were sent to Redis. */
let sent: number;
/** Called before each of them. */
let beforeSend: ((commands: readonly Command[]) => unknown) | undefined;
let cron: () => Promise<unknown>;

const receiver = createServer((request, response) => {
  const { url: path = "", method = "", headers } = request;
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", () => {
    received.push({ path, method, headers, body: Buffer.concat(chunks).toString() });
    response.writeHead(path.startsWith("/dead") ? 500 : 200).end();
  });
});
beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
});
afterAll(() => void receiver.close());

beforeEach(() => {
  received = [];
  sent = 0;
  beforeSend = undefined;
  const service = new Service(
    { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: "t" },
    { logger: "silent", qstash: { token: TOKEN, signingKeys: SIGNING_KEYS, allowPrivate: ["127.0.0.1"] } },
    {
      transport: () => {
        const clocked = scriptsAt(rig.transport, () => rig.now);
        return {
          ...clocked,
          async send(...call) {
            sent++;
            await beforeSend?.(call[0]);
            return clocked.send(...call);
          },
        };
      },
      onDemand,
      budget: "10s",
      afterResponse: "none",
      maxIdle: 1,
    },
  );
  cron = () => service.cron();
  vi.stubGlobal("fetch", (to: string, init: RequestInit) => service.fetch(new Request(to, init)));
  vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

/** Lets some time pass, and then a sweep run. */
async function after(ms: number): Promise<string[]> {
  received = [];
  rig.now += ms;
  await cron();
  return received.map(({ path }) => path).toSorted();
}

/** A request that the client has no method for. */
const request = (path: string) =>
  fetch(`https://sluice.test${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });

/** A message that dies at its only attempt. */
const mortal = () => ({ url: `${url}/dead`, retries: 0 });

/** A minute before the next full five. */
const beginBeforeFive = () => (rig.now = Math.ceil(rig.now / (5 * MINUTE)) * 5 * MINUTE - MINUTE);

test("a schedule publishes to a group, one of whose endpoints is dead, and this one alone is tried again", async () => {
  beginBeforeFive();
  const endpoints = ["/alive", "/dead"].map((path) => ({ name: path.slice(1), url: url + path }));
  await client.urlGroups.addEndpoints({ name: "orders", endpoints });
  const { scheduleId } = await client.schedules.create({
    destination: "orders",
    cron: "*/5 * * * *",
    body: "17",
    retries: 1,
    retryDelay: "60000",
    label: "due",
    // Each occurrence is published all the same.
    headers: { "Upstash-Deduplication-Id": "due" },
  });
  expect(await after(0)).toEqual([]);
  expect(await after(MINUTE)).toEqual(["/alive", "/dead"]);
  const [request] = received.filter(({ path }) => path === "/alive");
  const { "upstash-signature": signature = "", ...headers } = request?.headers ?? {};
  expect([request?.body, headers]).toMatchObject([
    "17",
    { "upstash-schedule-id": scheduleId, "upstash-topic-name": "orders" },
  ]);
  const keys = { currentSigningKey: SIGNING_KEYS[0], nextSigningKey: SIGNING_KEYS[1] };
  const verified = { signature: String(signature), body: "17", url: `${url}/alive` };
  expect(await new Receiver(keys).verify(verified)).toBe(true);

  expect(await after(MINUTE)).toEqual(["/dead"]);
  const { messages } = await client.dlq.listMessages({ filter: { scheduleId, urlGroup: "orders" } });
  expect(messages).toMatchObject([
    { url: `${url}/dead`, endpointName: "dead", label: "due", scheduleId, responseStatus: 500 },
  ]);
  // The schedule goes on meanwhile, and a dead letter that is retried has both attempts again.
  expect(await client.dlq.retry(messages.map(({ dlqId }) => dlqId))).toMatchObject({ responses: [{}] });
  expect(await after(0)).toEqual(["/dead"]);
  expect(await after(4 * MINUTE)).toEqual(["/alive", "/dead", "/dead"]);
  await client.schedules.pause({ schedule: scheduleId });
  expect(await after(10 * MINUTE)).not.toContain("/alive");
  expect(await client.schedules.get(scheduleId)).toMatchObject({ isPaused: true });
});

test("a schedule publishes to a queue, which delivers in order and while it is not paused", async () => {
  beginBeforeFive();
  const queue = client.queue({ queueName: "reports" });
  await client.schedules.create({
    scheduleId: "report",
    destination: `${url}/report`,
    cron: "*/5 * * * *",
    queueName: "reports",
    delay: "2m",
  });
  expect(await after(MINUTE)).toEqual([]);
  expect((await queue.list()).map(({ name }) => name)).toEqual(["reports"]);
  await queue.pause();
  expect(await after(2 * MINUTE)).toEqual([]);
  expect(await queue.get()).toMatchObject({ paused: true, lag: 1 });
  await queue.enqueue({ url: `${url}/second` });
  expect(await after(0)).toEqual([]);
  await queue.resume();
  expect(await after(0)).toEqual(["/report", "/second"]);
  expect(received.map(({ path }) => path)).toEqual(["/report", "/second"]);
  expect(await queue.get()).toMatchObject({ paused: false, lag: 0 });
});

test("an occurrence whose group is gone is a dead letter that names the group", async () => {
  beginBeforeFive();
  await client.urlGroups.addEndpoints({ name: "gone", endpoints: [{ url: `${url}/gone` }] });
  await client.schedules.create({ destination: "gone", cron: "*/5 * * * *", scheduleId: "orphan" });
  await client.urlGroups.delete("gone");
  await after(MINUTE);
  const { messages } = await client.dlq.listMessages({ filter: { scheduleId: "orphan" } });
  expect(messages).toMatchObject([{ url: "gone", responseBody: "URL group gone not found" }]);
  await client.urlGroups.addEndpoints({ name: "gone", endpoints: [{ url: `${url}/found` }] });
  await client.dlq.retry({ filter: { scheduleId: "orphan" } });
  expect(await after(0)).toEqual(["/found"]);
});

test("a schedule shows what has become of its last messages, for as long as they are known", async () => {
  beginBeforeFive();
  const states = async () => (await client.schedules.get("watched")).lastScheduleStates;
  const endpoints = ["/fine", "/dead"].map((path) => ({ url: url + path }));
  await client.urlGroups.addEndpoints({ name: "watched", endpoints });
  const create = { destination: "watched", cron: "*/5 * * * *", scheduleId: "watched", retryDelay: "120000" };
  await client.schedules.create({ ...create, retries: 1 });
  expect(await states()).toBeUndefined();
  await after(MINUTE);
  const first = Object.entries((await states()) ?? {});
  expect(first.map(([, state]) => state)).toEqual(["SUCCESS", "IN_PROGRESS"]);
  const [fine = "", dead = ""] = first.map(([id]) => id);
  expect(await client.messages.get(dead)).toMatchObject({ url: `${url}/dead`, scheduleId: "watched" });
  await after(2 * MINUTE);
  expect(await states()).toEqual({ [fine]: "SUCCESS", [dead]: "FAIL" });
  expect(await client.schedules.list()).toMatchObject([{ lastScheduleStates: { [dead]: "FAIL" } }]);
  await client.schedules.pause({ schedule: "watched" });
  await after(90 * MINUTE);
  expect(await states()).toEqual({ [dead]: "FAIL" });
});

test("a queue that is deleted delivers nothing more", async () => {
  const queue = client.queue({ queueName: "old" });
  await queue.upsert({ parallelism: 1, paused: true });
  for (const path of ["/a", "/b"]) await queue.enqueue({ url: url + path });
  await queue.enqueue({ url: `${url}/later`, delay: 60 });
  expect(await queue.get()).toMatchObject({ lag: 2 });
  await queue.delete();
  expect(await after(2 * MINUTE)).toEqual([]);
  expect(await queue.list()).toEqual([]);
  await queue.enqueue({ url: `${url}/new` });
  expect(await after(0)).toEqual(["/new"]);
});

test("messages that die at the same instant are each in one page", async () => {
  const queue = client.queue({ queueName: "mortal" });
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const { messageId } = await (i % 2 ? queue.enqueue(mortal()) : client.publish(mortal()));
    ids.push(messageId);
  }
  // A queue goes on to the next message in the same sweep.
  await after(0);
  for (const order of ["latestFirst", "earliestFirst"]) {
    const found: string[] = [];
    let cursor: string | undefined = "";
    while (cursor !== undefined) {
      const query = new URLSearchParams({ order, count: "2", cursor });
      const response = await request(`/v2/dlq?${query}`);
      const page = (await response.json()) as { messages: { messageId: string }[]; cursor?: string };
      found.push(...page.messages.map(({ messageId }) => messageId));
      cursor = page.cursor;
    }
    expect(found, order).toHaveLength(5);
    expect(new Set(found), order).toEqual(new Set(ids));
  }
});

test("a batch with many keys of flow control needs three requests to Redis", async () => {
  const keys = Array.from({ length: 20 }, (_, i) => `key-${i}`);
  await client.batch(keys.map((key) => ({ url, delay: 60, flowControl: { key, rate: 5 } })));
  expect(sent).toBe(3);
  expect(await client.flowControl.get("key-19")).toMatchObject({ rateMax: 5 });
});

/** Makes each request to Redis take a minute, until what is returned is called. */
function slowly(): () => void {
  const began = performance.now();
  const clock = vi.spyOn(performance, "now").mockImplementation(() => began + sent * MINUTE);
  return () => clock.mockRestore();
}

test("a bulk cancel that does not end in time says so", async () => {
  await client.publish({ url, delay: 60 });
  const end = slowly();
  await expect(client.messages.cancel({ all: true })).rejects.toMatchObject({
    status: 503,
    message: expect.stringContaining("call again for the others"),
  });
  end();
  expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 1 });
});

test("a queue whose messages cannot be cancelled in time stays", async () => {
  const queue = client.queue({ queueName: "long" });
  await client.batch(Array.from({ length: 200 }, () => ({ url, delay: 60, queueName: "long" })));
  const end = slowly();
  await expect(queue.delete()).rejects.toMatchObject({ status: 503 });
  end();
  expect(await queue.get()).toMatchObject({ name: "long" });
  await queue.delete();
  expect(await client.queue().list()).toEqual([]);
  expect(await client.messages.cancel({ all: true })).toEqual({ cancelled: 0 });
});

describe("the limits of a key of flow control", () => {
  const DAY = 1_440 * MINUTE;
  beforeEach(() => void vi.useFakeTimers({ toFake: ["Date"], now: rig.now }));
  afterEach(() => void vi.useRealTimers());

  let looks = 0;
  /** Lets days pass, and then a sweep run, with what is done every ten minutes. */
  async function afterDays(days: number): Promise<string[]> {
    vi.setSystemTime(rig.now + days * DAY);
    const began = performance.now() + 11 * ++looks * MINUTE;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => began);
    const paths = await after(days * DAY);
    clock.mockRestore();
    return paths;
  }
  const publish = (key: string, more: object = {}) =>
    client.publish({ url: `${url}/${key}`, flowControl: { key, parallelism: 1, rate: 9 }, ...more });
  const limitsOf = async (key: string) => (await client.flowControl.get(key)).parallelismMax;
  /** What is stored of keys. */
  async function stored(): Promise<unknown[]> {
    const fields = (await rig.command("HKEYS", "sluice:{qstash}:tasks")) as string[];
    const noted = await rig.command("ZRANGE", "sluice:{qstash}:flow-control-needed", "0", "-1");
    return [fields.filter((name) => /^~[sg]:/.test(name)).toSorted(), noted];
  }

  test("are forgotten when its messages have long been delivered", async () => {
    await publish("user-1");
    expect(await after(0)).toEqual(["/user-1"]);
    await afterDays(8);
    expect(await stored()).toEqual([["~g:user-1", "~s:user-1"], ["user-1"]]);
    await afterDays(2);
    expect(await stored()).toEqual([[], []]);
    await publish("user-1");
    expect(await limitsOf("user-1")).toBe(1);
  });

  test("stay for a delayed message, one that is tried again, and a dead letter that is retried", async () => {
    await publish("late", { delay: `${20 * 1_440}m` });
    await publish("dead", { retries: 1, retryDelay: String(DAY), delay: 9 * 86_400 });
    for (const days of [9, 1]) expect(await afterDays(days)).toEqual(["/dead"]);
    const { messages } = await client.dlq.listMessages({});
    expect(await afterDays(6)).toEqual([]);
    await client.dlq.retry(messages.map(({ dlqId }) => dlqId));
    expect(await afterDays(0)).toEqual(["/dead"]);
    expect([await limitsOf("late"), await limitsOf("dead")]).toEqual([1, 1]);
    expect(await afterDays(4)).toEqual(["/dead", "/late"]);
    expect(await afterDays(8)).toEqual([]);
    expect([await limitsOf("late"), await limitsOf("dead")]).toEqual([1, 1]);
    await afterDays(2);
    expect(await stored()).toEqual([[], []]);
  });

  test("stay while they are pinned, the key or all deliveries are paused, or its rate is used", async () => {
    const all = new Operator("qstash", { transport: rig.transport, now: () => rig.now });
    await client.flowControl.pin("pinned", { parallelism: 3 });
    const slow = { flowControl: { key: "slow", parallelism: 1, rate: 1, period: "25d" } };
    await publish("slow", slow);
    expect(await afterDays(0)).toEqual(["/slow"]);
    await publish("paused");
    await client.flowControl.pause("paused");
    await all.pause();
    await publish("ready");
    for (let i = 0; i < 2; i++) expect(await afterDays(10)).toEqual([]);
    const keys = ["pinned", "paused", "slow", "ready"];
    expect(await Promise.all(keys.map(limitsOf))).toEqual([3, 1, 1, 1]);
    await publish("slow", slow);
    await all.resume();
    expect(await afterDays(0)).toEqual(["/ready"]);
    await client.flowControl.unpin("pinned", { parallelism: true });
    await client.flowControl.resume("paused");
    expect(await afterDays(10)).toEqual(["/paused", "/slow"]);
    await afterDays(30);
    expect(await stored()).toEqual([[], []]);
  });

  test("stay if no sweep has run for so long that messages are late", async () => {
    await publish("off", { delay: 60 });
    expect(await afterDays(12)).toEqual(["/off"]);
    expect(await limitsOf("off")).toBe(1);
    await afterDays(12);
    expect(await stored()).toEqual([[], []]);
  });

  test("are there for a message that is published while they are being forgotten", async () => {
    for (let step = 1; step <= 2; step++) {
      await publish("user-2");
      await after(0);
      let steps = 0;
      let isPublishing = false;
      beforeSend = async ([first]) => {
        const forgets = first && "script" in first && first.script.name === "forgetLimits";
        if (isPublishing || (steps === 0 && !forgets) || ++steps !== step) return;
        isPublishing = true;
        await publish("user-2", { delay: 60 });
        isPublishing = false;
      };
      await afterDays(10);
      beforeSend = undefined;
      expect(steps, "requests").toBeGreaterThanOrEqual(step);
      expect(await limitsOf("user-2"), `before request ${step}`).toBe(1);
      expect((await stored())[1]).toEqual(["user-2"]);
      await after(2 * MINUTE);
    }
  });
});
