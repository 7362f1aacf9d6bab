import { beforeEach, describe, expect, test } from "vitest";
import { countQueues, queueOverviews, type Transport } from "../../../src/index.ts";
import { createApp } from "../../../src/http/app.ts";
import { queueTotals } from "../../../src/queue/operate/count-queues.ts";
import { queueDiagnostics } from "../../../src/queue/repair/diagnostics.ts";
import { asker, tokens, type Ask } from "../../http/served.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// What tools see that know only the name of a queue.

const rig = useRig();
const partitions = 4;
const now = () => rig.now;
let ask: Ask;
let sent: string[];
let counting: Transport;

beforeEach(async () => {
  const queue = rig.queue<number>({ partitions });
  await rig.operator({ partitions }).configure({ statistics: true, maxWorking: 20 });
  await queue.enqueueMany(Array.from({ length: 40 }, (_, i) => ({ payload: i, id: `t${i}` })));
  for (let i = 0; i < 4; i++) {
    for (const task of await queue.dequeue({ max: 2, worker: { name: "w1" } }))
      await task.reject(new Error("no"));
  }
  rig.now += 1_000;
  sent = [];
  counting = {
    send: (commands, options) => {
      sent.push(commands.map((one) => ("script" in one ? one.script.name : one[0])).join(" "));
      return rig.transport.send(commands, options);
    },
  };
  // Another instance, which knows only the name.
  const app = createApp({ transport: { send: rig.transport.send }, tokens });
  ask = asker((request) => app.fetch(request));
});

describe("a queue with partitions, by its name", () => {
  test("is counted as a whole", async () => {
    const [counts, none] = await countQueues(counting, [QUEUE, "none"], { now });
    expect(counts).toEqual(await rig.queue({ partitions }).counts());
    expect(counts).toMatchObject({ queue: QUEUE, pending: 32, rejected: 8, oldestAge: 1_000 });
    expect(none).toMatchObject({ queue: "none", pending: 0 });
    expect(sent).toEqual(["count count", "HMGET", "count count count count"]);
    sent.length = 0;
    await countQueues(counting, [QUEUE, "none"], { now });
    expect(sent).toEqual(["count count count count count HMGET"]);
    const [overview] = await queueOverviews(counting, [QUEUE], { now });
    const statistics = await rig.operator({ partitions }).statistics();
    expect(overview).toMatchObject({ pending: 32, leases: 8, settings: { maxWorking: 20 }, statistics });
    const [totals] = await queueTotals(counting, [QUEUE], { now });
    expect(totals).toMatchObject({ pending: 32, totals: { enqueued: 40, dequeued: 8, rejected: 8 } });
  });

  test("an unpartitioned queue costs no command more", async () => {
    await rig.queue().counts();
    const [plain] = await countQueues(counting, ["plain"], { now });
    expect(plain).toMatchObject({ pending: 0 });
    expect(sent).toEqual(["count"]);
  });

  test("is diagnosed as a whole", async () => {
    const found = await queueDiagnostics(rig.transport, QUEUE, { now });
    expect(found).toMatchObject({ queue: QUEUE, valid: true });
    // Every task counts once for each key that holds it.
    expect(found.entries).toBeGreaterThan(80);
    await rig.command("LPUSH", `sluice:{${QUEUE}/2}:pending`, "lost");
    expect(await queueDiagnostics(rig.transport, QUEUE, { now })).toMatchObject({ valid: false });
    await rig.command("LREM", `sluice:{${QUEUE}/2}:pending`, "1", "lost");
  });

  test("is one queue over HTTP, with all of its tasks", async () => {
    const get = async (path: string) => (await ask("GET", path)).body as Record<string, unknown>;
    expect((await get("/v1/queues?counts=true"))["queues"]).toMatchObject([
      { name: QUEUE, counts: { pending: 32, rejected: 8 } },
    ]);
    expect(await get(`/v1/queues/${QUEUE}`)).toMatchObject({ pending: 32, rejected: 8 });
    expect(await get(`/v1/overview?queues=${QUEUE}`)).toMatchObject({
      queues: [{ queue: QUEUE, pending: 32, partitions: 4 }],
    });
    expect(await get(`/v1/queues/${QUEUE}/load`)).toMatchObject({ pending: 32, workers: 1 });
    expect(await get(`/v1/queues/${QUEUE}/settings`)).toMatchObject({ maxWorking: 20, statistics: true });
    const listed = await get(`/v1/queues/${QUEUE}/partitions`);
    expect(listed).toEqual(await rig.operator({ partitions }).listPartitions());
    expect(listed).toMatchObject({ count: 4, changing: false });
    const page = await get(`/v1/queues/${QUEUE}/tasks?state=pending&size=20`);
    const next = await get(
      `/v1/queues/${QUEUE}/tasks?state=pending&size=20&cursor=${encodeURIComponent(String(page["cursor"]))}`,
    );
    const ids = [page, next].flatMap(({ tasks }) => (tasks as { id: string }[]).map(({ id }) => id));
    expect([ids.length, new Set(ids).size, next["cursor"]]).toEqual([32, 32, null]);
    expect(await get(`/v1/queues/${QUEUE}/tasks/${ids.at(-1)}`)).toMatchObject({ state: "pending" });
    expect((await get(`/v1/queues/${QUEUE}/workers`))["workers"]).toMatchObject([{ name: "w1" }]);
    const redriven = await ask("POST", `/v1/queues/${QUEUE}/redrive`, { json: { reason: "rejected" } });
    expect(redriven.body).toMatchObject({ redriven: 8, cursor: null });
    const pulled = await ask("POST", `/v1/queues/${QUEUE}/tasks/pull`, { json: { max: 3 } });
    expect((pulled.body as { tasks: unknown[] }).tasks.length).toBeGreaterThan(0);
    const metrics = await ask("GET", "/metrics");
    expect(String(metrics.body)).toMatch(/sluice_\w+\{queue="emails"[^}]*\}/);
    expect(String(metrics.body)).not.toContain("emails/");
    const path = `/v1/queues/${QUEUE}/partitions`;
    for (const count of [0, 63, 2.5, "4", null]) {
      const { status, body } = await ask("PUT", path, { json: { count } });
      expect([status, body]).toMatchObject([400, { code: "invalid_request" }]);
    }
    const changed = (await ask("PUT", path, { json: { count: 6 } })).body;
    expect(changed).toMatchObject({ queue: QUEUE, count: 6, changing: false });
    expect((changed as { partitions: unknown[] }).partitions).toHaveLength(6);
    expect((await ask("DELETE", `/v1/queues/${QUEUE}?force=true`)).body).toMatchObject({ deleted: true });
    expect(await get(`/v1/queues/${QUEUE}`)).toMatchObject({ pending: 0, rejected: 0 });
  });
});
