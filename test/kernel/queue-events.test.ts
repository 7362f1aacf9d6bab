import {
  afterAll,
  afterEach,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  type MockInstance,
  test,
  vi,
} from "vitest";
import { databases, Operator, type PublishedEvent, Queue, type Transport } from "../../src/index.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { queueEvents } from "../../src/kernel/tasks/events.ts";
import { resp } from "../../src/transports/resp.ts";
import { upstash } from "../../src/transports/upstash.ts";
import { named } from "../support/new-tasks.ts";
import { key, QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
let gateway: Gateway;
let tcp: ReturnType<typeof resp>;

beforeAll(async () => {
  gateway = await startGateway({ redisUrl: rig.redis.url });
  tcp = resp(rig.redis.url);
});
afterAll(async () => {
  await tcp.close();
  await gateway.close();
});
afterEach(async () => {
  const listening = async () => String(await rig.command("PUBSUB", "CHANNELS"));
  await vi.waitUntil(async () => (await listening()) === "", { timeout: 20_000, interval: 5 });
});

const transports: readonly (readonly [string, () => Transport])[] = [
  ["resp", () => tcp],
  ["upstash", () => upstash(gateway)],
];

const configure = (events: boolean, queue = QUEUE) =>
  new Operator(queue, { transport: rig.transport }).configure({ events });

async function listening(queue: Queue, signal?: AbortSignal) {
  const events = (await queue.events({ signal }))[Symbol.asyncIterator]();
  const take = async (count: number) => {
    const taken: PublishedEvent[] = [];
    while (taken.length < count) taken.push((await events.next()).value as PublishedEvent);
    return taken;
  };
  return { events, take };
}

describe.each([...transports, ["two databases", () => databases([tcp, upstash(gateway)])] as const])(
  "an iteration of events over %s that is ended",
  (_, transport) => {
    const events = async () => (await rig.queue({ transport: transport() }).events())[Symbol.asyncIterator]();
    // After each test, nothing listens.

    test("before its first step ends the subscription", async () => {
      const iterator = await events();
      expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
      expect(await iterator.next()).toEqual({ done: true, value: undefined });
    });

    test("while a step is pending ends that one too", async () => {
      const iterator = await events();
      const next = iterator.next();
      expect(await iterator.return?.()).toEqual({ done: true, value: undefined });
      expect(await next).toEqual({ done: true, value: undefined });
    });
  },
);

describe.each(transports)("events over %s", (_, transport) => {
  const listener = () => rig.queue({ transport: transport() });

  test("include every kind of event, with its time and tasks", async () => {
    await configure(true);
    const { events, take } = await listening(listener());
    const queue = rig.queue({ maxAttempts: 2 });
    const operator = rig.operator();
    await queue.enqueueMany(named(["a", "b", "c", "d"]));
    const [a, b, c] = await queue.dequeue({ max: 3, lease: 100 });
    await queue.cancel("a");
    await b?.requeue({ delay: "1h" });
    await queue.cancel("d");
    await c?.reject("no");
    await operator.redrive({ ids: ["c"] });
    await a?.complete();
    await operator.remove("a");
    await queue.dequeue({ lease: 100 });
    rig.now += 100;
    await rig.sweepOnce();
    await operator.deleteQueue();
    const reported = await take(12);
    expect(reported.map(({ event, at, ids }) => [event, at - START, ...ids].join(" "))).toEqual([
      "enqueued 0 a b c d",
      "dequeued 0 a b c",
      "cancelRequested 0 a",
      "requeued 0 b",
      "cancelled 0 d",
      "rejected 0 c",
      "redriven 0 c",
      "completed 0 a",
      "deleted 0 a",
      "dequeued 0 c",
      "reclaimed 100 c",
      "deleted 100 *",
    ]);
    const ofFlows = new Set<string>(["released"]);
    expect(new Set(reported.map(({ event }) => event))).toEqual(
      new Set(queueEvents.filter((event) => !ofFlows.has(event))),
    );
    await events.return?.();
  });

  test("come from this queue alone, while its setting is on, without foreign messages of its channel", async () => {
    await configure(true, "other");
    await rig.queue().enqueue(1, { id: "silent" });
    const { events, take } = await listening(listener());
    await rig.queue().enqueue(1, { id: "still-silent" });
    await new Queue("other", { transport: rig.transport }).enqueue(1);
    const channel = key("events");
    for (const strange of ["", "enqueued", "enqueued 1", "enqueued now a", '{"event":"enqueued"}'])
      await rig.command("PUBLISH", channel, strange);
    await configure(true);
    await new Queue(QUEUE, { transport: { send: rig.transport.send } }).enqueue(1, { id: "heard" });
    expect(await take(1)).toMatchObject([{ event: "enqueued", ids: ["heard"] }]);
    await events.return?.();
  });

  test("end with their signal, and go on after a gap if their connection is lost", async () => {
    const leaving = new AbortController();
    const { events } = await listening(listener(), leaving.signal);
    const pending = events.next();
    leaving.abort();
    expect(await pending).toEqual({ done: true, value: undefined });
    const other = await listening(listener());
    await rig.command("CLIENT", "KILL", "TYPE", "pubsub");
    expect(await other.take(1)).toEqual([{ event: "gap", at: expect.any(Number), ids: [] }]);
    await other.events.return?.();
  });
});

describe("a queue whose setting events is off", () => {
  const line = {
    queue: QUEUE,
    events: "off",
    note: expect.stringContaining(`sluice settings ${QUEUE} events=on`),
  };
  const said = () => warn.mock.calls.map(([text]) => JSON.parse(String(text)) as unknown);
  let warn: MockInstance<typeof console.warn>;
  beforeEach(() => {
    warn = vi.spyOn(console, "warn").mockImplementation(() => {});
  });
  afterEach(() => warn.mockRestore());
  const over = (transport: Transport) => listening(rig.queue({ transport }));

  test.each(transports)(
    "says so once in the log to each who listens over %s, and is heard once it is on",
    async (_, transport) => {
      const { events, take } = await over(transport());
      await expect.poll(said).toEqual([line]);
      await rig.command("CLIENT", "KILL", "TYPE", "pubsub");
      await take(1);
      await configure(true);
      await rig.queue().enqueue(1, { id: "heard" });
      expect(await take(1)).toMatchObject([{ event: "enqueued", ids: ["heard"] }]);
      await events.return?.();
      expect(said()).toEqual([line]);
    },
  );

  test("says so also if it was switched off before a listener's connection was lost", async () => {
    await configure(true);
    const { events, take } = await over(tcp);
    await rig.queue().enqueue(1);
    await take(1);
    await configure(false);
    await rig.command("CLIENT", "KILL", "TYPE", "pubsub");
    await take(1);
    await expect.poll(said).toEqual([line]);
    await events.return?.();
  });

  test("says so too if it has partitions", async () => {
    await rig.operator().resize(2);
    const { events } = await over(tcp);
    await expect.poll(said).toEqual([line]);
    await events.return?.();
  });

  test.each([
    { warn: true, looks: 1 },
    { warn: false, looks: 0 },
  ])("is looked at two seconds later, $looks times with warn: $warn", async ({ warn, looks }) => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const sent = vi.spyOn(tcp, "send");
    const events = (await rig.queue({ transport: tcp }).events({ warn }))[Symbol.asyncIterator]();
    await vi.advanceTimersByTimeAsync(2_000 - 1);
    expect(sent).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveBeenCalledTimes(looks);
    await events.return?.();
    sent.mockRestore();
  });
});

test("events throw unsupported over a transport that cannot subscribe", async () => {
  const queue = new Queue(QUEUE, { transport: { send: rig.transport.send } });
  await expect(queue.events()).rejects.toMatchObject({
    code: "unsupported",
    message: expect.stringContaining("cannot subscribe"),
  });
});
