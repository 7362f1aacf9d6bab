import { describe, expect, it } from "vitest";
import { queueSpace, readKeySpace } from "../support/key-space.ts";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, redis, tasks, enqueue, pull, settle, get, counts, receipts } = servedQueue();

const ids = async (json: unknown): Promise<string[]> =>
  (await pull(json)).body.tasks.map(({ id }: { id: string }) => id);

describe("an enqueue", () => {
  it("names groups, which are pulled in turn, and a priority, which comes first", async () => {
    await enqueue({
      tasks: [
        { id: "a1", payload: 1, group: "a" },
        { id: "a2", payload: 2, group: "a" },
        { id: "b1", payload: 3, group: "b;%" },
        { id: "urgent", payload: 4, group: "b;%", priority: 9 },
      ],
    });
    expect((await get("urgent")).body).toMatchObject({ state: "pending", group: "b;%", priority: 9 });
    const { tasks } = (await pull({ max: 10 })).body;
    expect(tasks.map(({ id, group }: { id: string; group: string }) => [id, group])).toEqual([
      ["urgent", "b;%"],
      ["a1", "a"],
      ["b1", "b;%"],
      ["a2", "a"],
    ]);
  });

  it("of a task without a group shows none, in pull and get", async () => {
    await enqueue({ id: "x", payload: 1 });
    expect(Object.keys((await get("x")).body)).not.toContain("group");
    expect(Object.keys((await pull()).body.tasks[0])).not.toContain("group");
  });

  it("with a known dedup key adds nothing, and answers 200 with the id of the first task", async () => {
    const dedup = { key: "report-7", window: "1h" };
    const first = await enqueue({ payload: 1, dedup });
    expect(first.status).toBe(201);
    const again = await enqueue({ payload: 2, dedup, id: "mine" });
    expect([again.status, again.body]).toEqual([200, { id: first.body.id, created: false }]);
    expect(again.headers.get("location")).toBe(`tasks/${first.body.id}`);
    expect((await counts()).pending).toBe(1);
  });

  it("with a dedup key gets the first answer when it is sent again with its Idempotency-Key", async () => {
    const json = { payload: 1, dedup: { key: "k", window: "1h" } };
    const first = await enqueue(json, { "idempotency-key": "once" });
    const resent = await enqueue(json, { "idempotency-key": "once" });
    expect([resent.status, resent.body]).toEqual([first.status, first.body]);
    expect((await counts()).pending).toBe(1);
  });

  it("with a unique id is refused for that time, and answers 200", async () => {
    const json = { id: "welcome-17", payload: 1, unique: "24h" };
    expect((await enqueue(json)).status).toBe(201);
    await settle({ receipt: (await receipts())[0], outcome: "complete", ttl: 0 });
    const again = await enqueue(json);
    expect([again.status, again.body]).toEqual([200, { id: "welcome-17", created: false }]);
    const { tasks: fields } = queueSpace(await readKeySpace(redis().url), queue());
    expect(fields.get(".welcome-17")).toContain(";U=86400000;");
  });

  it("with again: true starts an ended task anew, and never one that is still alive", async () => {
    await enqueue({ id: "x", payload: 1 });
    expect((await enqueue({ id: "x", payload: 2, again: true })).body.created).toBe(false);
    await settle({ receipt: (await receipts())[0], outcome: "complete", result: 1 });
    expect((await enqueue({ id: "x", payload: 2 })).status).toBe(200);
    expect((await enqueue({ id: "x", payload: 2, again: true })).status).toBe(201);
    expect((await get("x")).body).toMatchObject({ state: "pending", attempt: 0 });
  });
});

describe("a pull", () => {
  const worker = { name: "mailer-1", incarnation: "4f", node: "fra1", pid: 4711, silentAfter: "2m" };

  it("with a worker makes it a listener, and its tasks say who works on them", async () => {
    await enqueue({ id: "x", payload: 1 });
    expect(await ids({ worker })).toEqual(["x"]);
    expect((await get("x")).body.worker).toEqual({ name: "mailer-1", incarnation: "4f" });
    expect(await counts()).toMatchObject({ working: 1, workers: 1, paused: false });
  });

  it("without a worker makes no listener", async () => {
    await enqueue({ id: "x", payload: 1 });
    await pull();
    expect(Object.keys((await get("x")).body)).not.toContain("worker");
    expect((await counts()).workers).toBe(0);
  });

  it("of a settle takes a worker too", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { id: "x", payload: 2 }] });
    const [receipt] = await receipts();
    const json = { settlements: [{ receipt, outcome: "complete" }], pull: { worker: { name: "w" } } };
    const { body } = await ask("POST", `${tasks()}/settle`, { json });
    expect(body.pull).toMatchObject({ tasks: [{ id: "x" }], paused: false });
    expect((await get("x")).body.worker).toEqual({ name: "w" });
  });
});

describe("a settle", () => {
  it("keeps a result and a dead letter for the given times", async () => {
    await enqueue({ tasks: ["a", "b"].map((id) => ({ id, payload: id, resultTtl: "1h", deadTtl: "1h" })) });
    const [a, b] = await receipts({ max: 2 });
    const { body } = await settle(
      { receipt: a, outcome: "complete", result: "kept", ttl: 0 },
      { receipt: b, outcome: "reject", error: "kept", ttl: 0 },
    );
    expect(body.results).toMatchObject([{ ok: true }, { ok: true }]);
    expect(Object.keys((await get("a")).body)).not.toContain("result");
    expect((await counts()).rejected).toBe(0);
  });

  it("hands back a task that was not started: uncounted, and to the front", async () => {
    await enqueue({ tasks: ["a", "b"].map((id) => ({ id, payload: id, maxAttempts: 1 })) });
    const [receipt] = await receipts();
    const { body } = await settle({ receipt, outcome: "requeue", unstarted: true });
    expect(body.results).toEqual([{ receipt, ok: true, state: "pending" }]);
    expect((await get("a")).body).toMatchObject({ attempt: 1, charged: 0, requeues: 0 });
    expect(await ids({ max: 2 })).toEqual(["a", "b"]);
  });

  it("requeues with a backoff by attempt: a list, or a random delay between half of a bound and the whole", async () => {
    await enqueue({ id: "x", payload: 1 });
    const [receipt] = await receipts();
    const { body } = await settle({ receipt, outcome: "requeue", backoff: ["1h", "2h"] });
    const { requeuedAt, dueAt } = (await get("x")).body;
    expect(body.results).toEqual([{ receipt, ok: true, state: "delayed", dueAt }]);
    expect(dueAt - requeuedAt).toBe(3_600_000);
    for (const [id, backoff, most] of [
      ["y", true, 10_000],
      ["z", { base: "1d", most: "1h" }, 3_600_000],
    ] as const) {
      await enqueue({ id, payload: 1 });
      await settle({ receipt: (await receipts())[0], outcome: "requeue", backoff });
      const task = (await get(id)).body;
      expect(task.dueAt - task.requeuedAt).toBeGreaterThanOrEqual(most / 2);
      expect(task.dueAt - task.requeuedAt).toBeLessThanOrEqual(most);
    }
  });

  it("requeues with a backoff by the charged attempts", async () => {
    await enqueue({ id: "x", payload: 1 });
    await settle({ receipt: (await receipts())[0], outcome: "requeue", unstarted: true });
    await settle({ receipt: (await receipts())[0], outcome: "requeue", count: false });
    await settle({ receipt: (await receipts())[0], outcome: "requeue", backoff: ["1h", "2h", "3h"] });
    const { requeuedAt, dueAt, attempt, charged } = (await get("x")).body;
    expect([dueAt - requeuedAt, attempt, charged]).toEqual([3_600_000, 3, 1]);
  });

  it("reports progress with an extend; the task shows the latest", async () => {
    await enqueue({ id: "x", payload: 1 });
    const [receipt] = await receipts();
    for (const progress of [{ sent: 40, of: "80;" }, 0, null, "⏎\n"]) {
      await settle({ receipt, outcome: "extend", progress });
      expect((await get("x")).body.progress).toEqual(progress);
    }
  });

  it("refuses progress over 1 KiB, and says which", async () => {
    await enqueue({ id: "x", payload: 1 });
    const [receipt] = await receipts();
    const answer = await settle({ receipt, outcome: "extend", progress: "x".repeat(1_024) });
    expect(expectProblem(answer, "payload_too_large").detail).toMatch(/^settlements\[0\]\.progress has /);
    expect(Object.keys((await get("x")).body)).not.toContain("progress");
  });

  it("counts requeues, and shows every transition with its version and time", async () => {
    await enqueue({ id: "x", payload: 1 });
    await settle({ receipt: (await receipts())[0], outcome: "requeue" });
    await settle({ receipt: (await receipts())[0], outcome: "requeue", delay: "1h" });
    const { body } = await get("x");
    expect(body).toMatchObject({ state: "delayed", requeues: 2, version: 5 });
    expect(body.transitions).toEqual(
      ["working", "pending", "working", "delayed"].map((to, i) => ({
        version: 2 + i,
        to,
        at: expect.any(Number),
      })),
    );
  });
});
