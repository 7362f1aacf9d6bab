import { describe, expect, test } from "vitest";
import { sluice } from "../../../serverless/cloudflare.ts";
import { defineQueue } from "../../../src/index.ts";
import { offload, r2, type R2BucketBinding } from "../../../src/features/offload/index.ts";
import { memoryStore, testDeployment, testQueue } from "../../../src/testing/index.ts";
import { Service } from "../../../src/deploy/service.ts";
import { readArea } from "../../../src/features/offload/areas.ts";
import { useRig } from "../../support/rig.ts";
import { large, offloading, testStore } from "./rig.ts";

const START = Date.UTC(2026, 0, 1);

describe("testQueue", () => {
  test("keeps large payloads of a queue that declares offload in memory, and not in its store", async () => {
    const store = testStore(START);
    const reports = defineQueue<object>("reports", { offload: () => offloading(store) });
    const test = testQueue(reports, { now: START });
    await test.enqueue(large("a"), { id: "a" });
    expect(await test.tasks()).toMatchObject([{ id: "a", payload: large("a") }]);
    const handled: unknown[] = [];
    await test.work(({ payload }) => void handled.push(payload));
    expect(handled).toEqual([large("a")]);
    await test.advance("1d");
    expect(store.requests).toEqual([]);
  });

  test("has the declared limit", async () => {
    const reports = defineQueue("reports", { offload: offloading(memoryStore(), { maxBytes: 2_000_000 }) });
    await testQueue(reports).enqueue("x".repeat(1_500_000));
    for (const tooMuch of [
      testQueue(reports).enqueue("x".repeat(2_000_001)),
      testQueue("plain").enqueue("x".repeat(1_500_000)),
    ])
      await expect(tooMuch).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("a deployment with offload", () => {
  test("serves its fetch, its consumers and its HTTP interface; a test needs no store", async () => {
    const handled: unknown[] = [];
    const app = sluice<{ readonly PAYLOADS: R2BucketBinding }>({
      offload: (env) => offload({ store: r2(env.PAYLOADS) }),
      consumers: { notes: ({ payload }) => void handled.push(payload) },
      async fetch(request, { queue }) {
        await queue("notes").enqueue(await request.text());
        return new Response("ok");
      },
    });
    const test = testDeployment(app, { now: START });
    const payload = "x".repeat(1_200_000);
    expect((await test.fetch("/", { method: "POST", body: payload })).status).toBe(200);
    expect(handled).toEqual([payload]);
    const client = test.client().queue("later");
    await client.enqueue(payload, { id: "b" });
    expect(await client.get("b", { payload: true })).toMatchObject({ payload });
    expect(await test.tasks("later")).toMatchObject([{ id: "b", payload }]);
  });

  test("uses the store that a queue declares, also over HTTP", async () => {
    const reports = defineQueue("reports", {
      offload: offload({ store: memoryStore(), maxBytes: 1_100_000 }),
    });
    const handled: unknown[] = [];
    const app = sluice({
      offload: () => offload({ store: memoryStore() }),
      consumers: [reports.consumer(({ payload }) => void handled.push(payload))],
    });
    const test = testDeployment(app, { now: START });
    await test.queue(reports).enqueue(large("a"), { id: "a" });
    const payload = "x".repeat(1_090_000);
    await test.client().queue("reports").enqueue(payload, { id: "b" });
    await test.run();
    expect(handled).toEqual([large("a"), payload]);
    for (const queue of [test.queue(reports), test.client().queue("reports")])
      await expect(queue.enqueue("x".repeat(1_100_001))).rejects.toMatchObject({ code: "too_large" });
    await test.advance("3h");
  });

  test("refuses an offload that is none", () => {
    for (const none of [{}, null, false]) {
      expect(() => testDeployment({ offload: () => none as never })).toThrow(
        "offload() must be made by offload() of sluice-queue/offload",
      );
    }
    expect(() => defineQueue("q", { offload: {} as never }).options).not.toThrow();
    expect(() => testQueue(defineQueue("q", { offload: {} as never }))).toThrow(
      /^offload must be made by offload\(\)/,
    );
  });
});

describe("a deployment's cron removes orphans", () => {
  const rig = useRig({ checkInvariants: false });
  const env = { UPSTASH_REDIS_REST_URL: "https://redis.test", UPSTASH_REDIS_REST_TOKEN: "x" };

  async function ran(fails: boolean) {
    const [shared, own] = [testStore(0), testStore(0)];
    const area = await readArea({ transport: rig.transport });
    const bytes = new Uint8Array(1);
    for (const store of [shared, own])
      await store.put(`sluice/${area}/reports/gone/N`, bytes, { sha256: bytes });
    if (fails) {
      own.before = () => {
        throw new Error("no");
      };
    }
    const lines: object[] = [];
    const errors: object[] = [];
    const logger = {
      debug: () => {},
      info: (line: object) => void lines.push(line),
      warn: () => {},
      error: (line: object) => void errors.push(line),
    };
    const reports = defineQueue("reports", { offload: offloading(own) });
    const quick = defineQueue("quick");
    const options = { offload: () => offloading(shared), queues: [reports, quick], logger };
    const service = new Service(env, options, {
      transport: () => rig.transport,
      budget: "20s",
      afterResponse: "none",
    });
    await service.cron();
    const stores = [await shared.keys(), await own.keys()];
    return { stores, lines: lines.filter((line) => "objects" in line), errors };
  }

  test("from each store once, and logs how many", async () => {
    const removed = { message: "objects", objects: { checked: 1, removed: 1 } };
    expect(await ran(false)).toEqual({ stores: [[], []], lines: [removed, removed], errors: [] });
  });

  test("also if one of the stores fails, which it logs", async () => {
    const { stores, lines, errors } = await ran(true);
    expect(stores).toEqual([[], [expect.stringContaining("/gone/N")]]);
    expect(lines).toEqual([{ message: "objects", objects: { checked: 1, removed: 1 } }]);
    expect(errors).toEqual([
      {
        message: "objects",
        objects: {
          checked: 0,
          removed: 0,
          error: expect.stringContaining("the object store did not read an object in 4 tries"),
        },
      },
    ]);
  });
});
