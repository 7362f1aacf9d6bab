import { operations } from "../../../src/http/operations/index.ts";
import { beforeEach, describe, expect, test } from "vitest";
import { countQueues, Queue, queueOverviews, Schedules, sweep, type Transport } from "../../../src/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { queueTotals } from "../../../src/operate/count-queues.ts";
import { checkQueues } from "../../../src/features/repair/check-queues.ts";
import { queueDiagnostics } from "../../../src/operate/diagnostics.ts";
import { asker, tokens, type Ask } from "../../http/served.ts";
import { instances } from "../../support/instances.ts";
import { numbered } from "../../support/new-tasks.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// What tools see that know only the name of a queue.

const rig = useRig();
const { now, instance, keysIn } = instances(rig);
const partitions = 4;
const operator = () => rig.operator({ partitions });
let ask: Ask;
let sent: string[];
let counting: Transport;

beforeEach(async () => {
  const queue = rig.queue<number>({ partitions });
  await operator().configure({ statistics: true, maxWorking: 20 });
  await queue.enqueueMany(numbered(40));
  for (let i = 0; i < 8; i++) {
    const [task] = await queue.dequeue({ worker: { name: "w1" } });
    await task?.reject(new Error("no"));
  }
  rig.now += 1_000;
  sent = [];
  counting = instance((_, commands) =>
    sent.push(commands.map((one) => ("script" in one ? one.script.name : one[0])).join(" ")),
  );
  const app = createApp({ operations, transport: instance(), tokens });
  ask = asker((request) => app.fetch(request));
});

describe("a queue with partitions, by its name", () => {
  test("is counted as a whole, and an unpartitioned one costs no command more", async () => {
    await countQueues(counting, ["plain"], { now });
    expect(sent).toEqual(["count"]);
    sent.length = 0;
    const [counts, none] = await countQueues(counting, [QUEUE, "none"], { now });
    expect(counts).toEqual(await rig.queue({ partitions }).counts());
    expect(counts).toMatchObject({ queue: QUEUE, pending: 32, rejected: 8, oldestAge: 1_000 });
    expect(none).toMatchObject({ queue: "none", pending: 0 });
    expect(sent).toEqual(["count count", "HMGET", "count count count count"]);
    sent.length = 0;
    await countQueues(counting, [QUEUE, "none"], { now });
    expect(sent).toEqual(["count count count count count HMGET"]);
    const [overview] = await queueOverviews(counting, [QUEUE], { now });
    const statistics = await operator().statistics();
    expect(overview).toMatchObject({ pending: 32, leases: 8, settings: { maxWorking: 20 }, statistics });
    const [totals] = await queueTotals(counting, [QUEUE], { now });
    expect(totals).toMatchObject({ pending: 32, totals: { enqueued: 40, dequeued: 8, rejected: 8 } });
  });

  test("is swept as a whole, with its schedules, and alone", async () => {
    const hour = { every: "1h", from: rig.now + 1_000, payload: 0 } as const;
    const others = new Queue<number>("others", { transport: rig.transport, now });
    await new Schedules(QUEUE, { transport: instance(), now, partitions }).put("s", hour);
    await others.enqueue(0, { delay: 1 });
    for (let i = 0; i < 8; i++) await rig.queue({ partitions }).dequeue({ lease: "30s" });
    rig.now += 60_000;
    const { queues, reclaimed, scheduled } = await sweep(counting, { now, queue: QUEUE });
    expect({ queues, reclaimed, scheduled }).toEqual({ queues: 1, reclaimed: 8, scheduled: 1 });
    expect(await others.counts()).toMatchObject({ pending: 0, delayed: 1 });
    // The registered queue of that name, its number of partitions, and then all partitions at once.
    expect(sent.slice(0, 2)).toEqual(["ZMSCORE", "ZMSCORE"]);
  });

  test("is diagnosed as a whole", async () => {
    const found = await queueDiagnostics(rig.transport, QUEUE, { now }, checkQueues);
    expect(found).toMatchObject({ queue: QUEUE, valid: true });
    // Every task counts once for each key that holds it.
    expect(found.entries).toBeGreaterThan(80);
    const hashes = [0, 1, 2, 3].map((at) => rig.command("MEMORY", "USAGE", keysIn(at).tasks, "SAMPLES", "0"));
    const bytes = (await Promise.all(hashes)).map(Number);
    expect(found.bytes).toBeGreaterThanOrEqual(bytes.reduce((sum, one) => sum + one));
    await rig.command("LPUSH", keysIn(2).pending, "lost");
    expect(await queueDiagnostics(rig.transport, QUEUE, { now }, checkQueues)).toMatchObject({
      valid: false,
    });
    await rig.command("LREM", keysIn(2).pending, "1", "lost");
  });

  test("is one queue over HTTP, with all of its tasks", async () => {
    const get = async (path: string) => (await ask("GET", path)).body as Record<string, unknown>;
    const own = `/v1/queues/${QUEUE}`;
    expect((await get("/v1/queues?counts=true"))["queues"]).toMatchObject([
      { name: QUEUE, counts: { pending: 32, rejected: 8 } },
    ]);
    expect(await get(own)).toMatchObject({ pending: 32, rejected: 8 });
    expect(await get(`/v1/overview?queues=${QUEUE}`)).toMatchObject({
      queues: [{ queue: QUEUE, pending: 32, partitions: 4 }],
    });
    expect(await get(`${own}/load`)).toMatchObject({ pending: 32, workers: 1 });
    expect(await get(`${own}/settings`)).toMatchObject({ maxWorking: 20, statistics: true });
    const listed = await get(`${own}/partitions`);
    expect(listed).toEqual(await operator().listPartitions());
    expect(listed).toMatchObject({ count: 4, changing: false });
    const page = await get(`${own}/tasks?state=pending&size=20`);
    const cursor = encodeURIComponent(String(page["cursor"]));
    const next = await get(`${own}/tasks?state=pending&size=20&cursor=${cursor}`);
    const ids = [page, next].flatMap(({ tasks }) => (tasks as { id: string }[]).map(({ id }) => id));
    expect([ids.length, new Set(ids).size, next["cursor"]]).toEqual([32, 32, null]);
    expect(await get(`${own}/tasks/${ids.at(-1)}`)).toMatchObject({ state: "pending" });
    expect((await get(`${own}/workers`))["workers"]).toMatchObject([{ name: "w1" }]);
    const redriven = await ask("POST", `${own}/redrive`, { json: { reason: "rejected" } });
    expect(redriven.body).toMatchObject({ redriven: 8, cursor: null });
    const pulled = await ask("POST", `${own}/tasks/pull`, { json: { max: 3 } });
    expect((pulled.body as { tasks: unknown[] }).tasks.length).toBeGreaterThan(0);
    const metrics = String((await ask("GET", "/metrics")).body);
    expect(metrics).toMatch(/sluice_\w+\{queue="emails"[^}]*\}/);
    expect(metrics).not.toContain("emails/");
    const resized = await ask("PUT", `${own}/partitions`, { json: { count: 6 } });
    const changed = resized.body as { partitions: unknown[] };
    expect(changed).toMatchObject({ queue: QUEUE, count: 6, changing: false });
    expect(changed.partitions).toHaveLength(6);
    expect((await ask("DELETE", `${own}?force=true`)).body).toMatchObject({ deleted: true });
    expect(await get(own)).toMatchObject({ pending: 0, rejected: 0 });
  });
});
