import { operations } from "../../src/http/operations/index.ts";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { createApp, type TokenEntry } from "../../src/http/index.ts";
import {
  Queue,
  type PublishedEvent,
  type QueueOptions,
  type ReportedTask,
  type Transport,
} from "../../src/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { readReceipt } from "../../src/kernel/names/receipt.ts";
import { ENVELOPE } from "../../src/kernel/record/envelope.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { settleScript } from "../../src/kernel/scripts/take-scripts.ts";
import { encrypting, MARKER, shows } from "../support/encrypting.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
const TOKEN = "t".repeat(32);
const HIDDEN = "h".repeat(32);
let tcp: ReturnType<typeof resp>;
beforeAll(() => void (tcp = resp(rig.redis.url)));
afterAll(() => tcp.close());

type Events = AsyncIterable<PublishedEvent>;

/** A client of the HTTP interface in this process. */
function clientWith(token: string) {
  const tokens: TokenEntry[] = [
    { token: TOKEN, scopes: ["view"], queues: "*" },
    { token: HIDDEN, scopes: ["view"], queues: "*", payloads: "hidden" },
  ];
  const app = createApp({ operations, transport: tcp, tokens });
  return createClient({
    url: "https://sluice.test",
    token,
    fetch: async (url, init) => app.fetch(new Request(url, init)),
  });
}

/** The ways to listen to the queue. */
const listeners: Record<string, (encryption?: QueueOptions["encryption"]) => Promise<Events>> = {
  "the library": (encryption) => rig.queue({ transport: tcp, encryption }).events(),
  "the HTTP client": (encryption) => clientWith(TOKEN).queue(QUEUE, { encryption }).events(),
};

/** What each listener gets of so many events: their kind, and what they say of their tasks. */
async function heard(events: Events, count: number) {
  const iterator = events[Symbol.asyncIterator]();
  onTestFinished(async () => void (await iterator.return?.()));
  const found: [string, readonly ReportedTask[] | undefined][] = [];
  while (found.length < count) {
    const { value } = (await iterator.next()) as { value: PublishedEvent };
    found.push([value.event, value.tasks]);
  }
  return found;
}

const publish = () => rig.operator().configure({ events: true });
/** Works on tasks, so that each kind of event comes. */
async function work(options: Pick<QueueOptions, "encryption"> = {}) {
  const queue = rig.queue({ maxAttempts: 2, ...options });
  await queue.enqueueMany(["done", "failing", "lost"].map((id) => ({ id, payload: id })));
  const [done, failing, lost] = await queue.dequeue({ max: 3, lease: 100 });
  await done?.extend("1m", { progress: { sent: `${MARKER} 40%; more` } });
  await done?.complete({ mail: MARKER });
  await failing?.requeue({ delay: "30s", error: new TypeError(`${MARKER}\nfirst`) });
  rig.now += 100;
  await rig.sweepOnce();
  await (await queue.dequeue({ lease: 100 }))[0]?.reject(MARKER);
  expect(lost?.id).toBe("lost");
  rig.now += 30_000;
  await queue.dequeue({ lease: 100 });
  rig.now += 100;
  await rig.sweepOnce();
}

const reported: [string, readonly ReportedTask[] | undefined][] = [
  ["enqueued", undefined],
  ["dequeued", undefined],
  ["progress", [{ id: "done", attempt: 1, progress: { sent: `${MARKER} 40%; more` } }]],
  ["completed", [{ id: "done", attempt: 1, result: { mail: MARKER } }]],
  ["requeued", [{ id: "failing", attempt: 1, dueAt: START + 30_000, error: `TypeError: ${MARKER}\nfirst` }]],
  ["reclaimed", [{ id: "lost", attempt: 1 }]],
  ["dequeued", undefined],
  ["rejected", [{ id: "lost", attempt: 2, reason: "rejected", error: MARKER }]],
  ["dequeued", undefined],
  ["reclaimed", [{ id: "failing", attempt: 2 }]],
  ["rejected", [{ id: "failing", attempt: 2, reason: "lease_expired" }]],
];

test.each(Object.entries(listeners))(
  "a listener over %s gets results, progress and failed attempts",
  async (_, listen) => {
    await publish();
    const events = await listen();
    await work();
    expect(await heard(events, reported.length)).toEqual(reported);
  },
);

test.each(Object.entries(listeners))(
  "a listener over %s with the key gets encrypted values",
  async (_, listen) => {
    await publish();
    const raw = await (tcp as Required<Transport>).subscribe(key("events"));
    const messages = raw[Symbol.asyncIterator]();
    const events = await listen(encrypting());
    await work({ encryption: encrypting() });
    expect(await heard(events, reported.length)).toEqual(reported);
    // No value is readable on the channel.
    for (let i = 0; i < reported.length; i++) expect(shows((await messages.next()).value)).toBe(false);
    await messages.return?.();
  },
);

test.each(Object.entries(listeners))(
  "a listener over %s without the key goes on, without values",
  async (_, listen) => {
    await publish();
    const events = await listen();
    await work({ encryption: encrypting() });
    const withheld = reported.map(([event, tasks]) => [
      event,
      tasks?.map(({ result, progress, error, ...task }) =>
        (result ?? progress ?? error) === undefined ? task : { ...task, withheld: "undecryptable" },
      ),
    ]);
    expect(await heard(events, reported.length)).toEqual(withheld);
  },
);

test("a listener without encryption, and with `encryption: null`, gets envelopes", async () => {
  await publish();
  const events = await rig.queue({ transport: tcp, encryption: null }).events();
  await work({ encryption: encrypting() });
  const values = (await heard(events, 5)).flatMap(([, tasks = []]) =>
    tasks.map(({ result, error }) => result ?? error),
  );
  for (const value of values.filter((one) => one !== undefined)) {
    expect(Buffer.from(value as Uint8Array).toString("latin1")).toContain(ENVELOPE);
  }
  expect(values).toHaveLength(3);
});

test("a token that hides payloads sees errors, and neither results nor progress", async () => {
  await publish();
  const events = await clientWith(HIDDEN).queue(QUEUE).events();
  await work();
  const shown = reported.filter(([event]) => event !== "progress");
  expect(await heard(events, shown.length)).toEqual(
    shown.map(([event, tasks]) => [
      event,
      tasks?.map(({ result: _, ...task }) => ({ ...task, payloadsHidden: true })),
    ]),
  );
});

test("an event has values of at most 1,800 bytes, and 64,000 in all", async () => {
  await publish();
  const queue = rig.queue();
  await queue.enqueueMany(Array.from({ length: 50 }, (_, i) => ({ id: `t${i}`, payload: i })));
  const events = await rig.queue({ transport: tcp }).events();
  const tasks = await queue.dequeue({ max: 50 });
  // In JSON, with the codec's letter in front, these have 1,800 bytes and 1,801.
  const [most, more] = ["é".repeat(898) + "x", "x".repeat(1_798)];
  const settle = (from: number, result: string) =>
    queue.settle(
      tasks.slice(from, from + 1).map(({ receipt }) => ({ receipt, outcome: "complete", result })),
    );
  await settle(0, most);
  await settle(1, `${more}x`);
  await queue.settle(tasks.slice(2).map(({ receipt }) => ({ receipt, outcome: "complete", result: most })));
  const [, first, second, all] = await heard(events, 4);
  expect(first?.[1]).toEqual([{ id: "t0", attempt: 1, result: most }]);
  expect(second?.[1]).toEqual([{ id: "t1", attempt: 1, withheld: "too_large" }]);
  const withheld = all?.[1]?.map((task) => task.withheld);
  expect(withheld).toEqual(Array.from({ length: 48 }, (_, i) => (i < 36 ? undefined : "too_large")));
  expect((await queue.get("t1"))?.result).toBe(`${more}x`);
});

test("bytes travel, and what a handler returns without a value has none", async () => {
  await publish();
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b", "c"].map((id) => ({ id, payload: id })));
  for (const listen of Object.values(listeners)) {
    const events = await listen();
    const [task] = await queue.dequeue();
    await task?.complete(task.id === "a" ? undefined : new Uint8Array([1, 2, 255]));
    const [, completed] = await heard(events, 2);
    const result = task?.id === "a" ? {} : { result: new Uint8Array([1, 2, 255]) };
    expect(completed).toEqual(["completed", [{ id: task?.id, attempt: 1, ...result }]]);
  }
});

test("a value in which another client has written a line break is left out, and moves no other value", async () => {
  await publish();
  const queue = rig.queue();
  await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
  const events = await rig.queue({ transport: tcp }).events();
  const tasks = await queue.dequeue({ max: 2 });
  const items = tasks.map(({ id, receipt }) => {
    const { lease, token } = readReceipt(receipt, "receipt");
    return { id, proof: `${lease},${token}`, terms: "complete", text: id === "a" ? "j[1,\n2]" : "j2" };
  });
  await rig.transport.send([callOf(settleScript, queueKeys(QUEUE), { testNow: "", call: "" }, items)]);
  const [, completed] = await heard(events, 2);
  expect(completed?.[1]).toEqual([
    { id: "a", attempt: 1, withheld: "too_large" },
    { id: "b", attempt: 1, result: 2 },
  ]);
  expect((await queue.get("a"))?.result).toEqual([1, 2]);
});

test("a settlement that is sent twice is one event, and late progress none", async () => {
  await publish();
  const events = await rig.queue({ transport: tcp }).events();
  const queue = rig.queue();
  await queue.enqueue(1, { id: "a" });
  const [task] = await queue.dequeue();
  const settlements = [{ receipt: task?.receipt ?? "", outcome: "complete", result: 1 }] as const;
  await queue.settle(settlements);
  await queue.settle(settlements);
  await queue.enqueue(2, { id: "b" });
  expect((await heard(events, 4)).map(([event]) => event)).toEqual([
    "enqueued",
    "dequeued",
    "completed",
    "enqueued",
  ]);
});

test("messages without details, or with invalid ones, are events without them", async () => {
  const events = await rig.queue({ transport: tcp }).events();
  const messages = [
    "completed 1 a",
    "completed 1 a\nnonsense",
    "completed 1 a b\n1 0  j1",
    "completed 1 a\n1 0  jx",
  ];
  for (const message of messages) await rig.command("PUBLISH", key("events"), message);
  expect(await heard(events, 4)).toEqual([
    ["completed", undefined],
    ["completed", undefined],
    ["completed", [{ id: "a", attempt: 1, result: 1 }]],
    ["completed", [{ id: "a", attempt: 1, withheld: "unexpected_reply" }]],
  ]);
});

test("a queue that publishes no events has no command for them, also with statistics and progress", async () => {
  await rig.operator().configure({ statistics: true });
  const queue = rig.queue();
  await queue.enqueue(1);
  const [task] = await queue.dequeue();
  await rig.command("CONFIG", "RESETSTAT");
  await task?.extend("1m", { progress: 1 });
  await task?.complete(1);
  expect(await rig.command("INFO", "commandstats")).not.toContain("publish");
  expect(JSON.stringify(await rig.command("HGETALL", key("tasks")))).not.toContain("progress");
});

test("a listener over HTTP ends with its signal, and says what refuses it", async () => {
  await expect(clientWith(TOKEN).queue(QUEUE).events({ signal: AbortSignal.abort() })).rejects.toMatchObject({
    code: "aborted",
  });
  const leaving = new AbortController();
  const events = await clientWith(TOKEN).queue(QUEUE).events({ signal: leaving.signal });
  const next = events[Symbol.asyncIterator]().next();
  leaving.abort();
  expect(await next).toEqual({ done: true, value: undefined });
  await expect.poll(() => rig.command("PUBSUB", "CHANNELS")).toEqual([]);
  await expect(clientWith("n".repeat(32)).queue(QUEUE).events()).rejects.toMatchObject({
    code: "unauthorized",
  });
});

test("all partitions of a queue share the channel", async () => {
  await rig.operator().resize(3);
  await publish();
  const events = await rig.queue({ transport: tcp }).events();
  const queue = new Queue<number, number>(QUEUE, { transport: rig.transport });
  await queue.enqueueMany(Array.from({ length: 20 }, (_, i) => ({ id: `t${i}`, payload: i })));
  const done = new Map<string, unknown>();
  const iterator = events[Symbol.asyncIterator]();
  onTestFinished(async () => void (await iterator.return?.()));
  for (let left = 20; left > 0;) {
    const tasks = await queue.dequeue({ max: 10 });
    await queue.settle(
      tasks.map(({ receipt, payload }) => ({ receipt, outcome: "complete", result: payload })),
    );
    left -= tasks.length;
  }
  while (done.size < 20) {
    const { value } = (await iterator.next()) as { value: PublishedEvent };
    if (value.event === "completed") for (const { id, result } of value.tasks ?? []) done.set(id, result);
  }
  expect(done).toEqual(new Map(Array.from({ length: 20 }, (_, i) => [`t${i}`, i])));
});
