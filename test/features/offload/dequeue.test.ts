import { describe, expect, test } from "vitest";
import { drain, SluiceError, type Transport } from "../../../src/index.ts";
import { encrypting } from "../../support/encrypting.ts";
import { key, START, useRig } from "../../support/rig.ts";
import { down, large, offloading, withStore } from "./rig.ts";

const rig = useRig();
const setUp = () => withStore(rig);

describe("a dequeue", () => {
  test("leaves what does not fit into maxBytes, in its place and without an attempt", async () => {
    const { store, queue } = setUp();
    const ids = ["a", "b", "c", "d", "e"];
    await queue.enqueueMany(ids.map((id) => ({ payload: large(id), id })));
    const first = await queue.dequeue({ max: 4, maxBytes: 500 });
    expect([first.map(({ id }) => id), first.nextDueAt]).toEqual([["a", "b"], START]);
    expect(store.requests.filter((request) => request.startsWith("get"))).toHaveLength(2);
    expect(await queue.get("c")).toMatchObject({ state: "pending", charged: 0 });
    const rest = await queue.dequeue({ max: 10 });
    expect(rest.map(({ id, payload }) => [id, payload])).toEqual(
      ["c", "d", "e"].map((id) => [id, large(id)]),
    );
    // One task is returned even if it is larger.
    await queue.enqueue(large("f"), { id: "f" });
    expect((await queue.dequeue({ max: 10, maxBytes: 1 })).map(({ id }) => id)).toEqual(["f"]);
  });

  test("hands tasks back uncharged, with the error, if the store is down, and throws if there is no other", async () => {
    const { store, queue } = setUp();
    await queue.enqueueMany(["a", "b"].map((id) => ({ payload: large(id), id, maxAttempts: 1 })));
    store.before = down;
    await expect(queue.dequeue({ max: 10 })).rejects.toMatchObject({ code: "offload_failed" });
    const error = { name: "SluiceError", message: expect.stringContaining("the store is down") as string };
    const handedBack = { state: "delayed", charged: 0, dueAt: START + 30_000, error };
    for (const id of ["a", "b"]) expect(await queue.get(id)).toMatchObject(handedBack);
    // With another task it returns that one, and when the failed ones are due.
    rig.now += 30_000;
    await queue.enqueue("small", { id: "c" });
    const others = await queue.dequeue({ max: 10 });
    expect([others.map(({ id }) => id), others.nextDueAt]).toEqual([["c"], rig.now + 30_000]);
    store.before = () => {};
    rig.now += 30_000;
    const tasks = await queue.dequeue({ max: 10 });
    expect(tasks.map(({ payload }) => payload)).toEqual([large("a"), large("b")]);
  });

  describe("of objects that take longer than the lease", () => {
    const ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    const slow = async (seconds: number) => {
      const { store, queue } = setUp();
      await queue.enqueueMany(ids.map((id) => ({ payload: large(id), id, maxAttempts: 2 })));
      await queue.enqueue("small", { id: "i" });
      let gets = 0;
      store.before = (method) => {
        if (method === "get" && ++gets === 6) rig.now += seconds * 1_000;
      };
      return { store, queue };
    };

    test.each([6, 11])(
      "of 10 s by %i s, extends the leases of those that were read, and hands the others back to their place",
      async (seconds) => {
        const { queue } = await slow(seconds);
        const tasks = await queue.dequeue({ max: 10, lease: "10s" });
        expect(tasks.map(({ id, payload, deadlineAt }) => [id, payload, deadlineAt - rig.now])).toEqual(
          ids.slice(0, 6).map((id) => [id, large(id), 10_000]),
        );
        expect(tasks.nextDueAt).toBe(rig.now - seconds * 1_000);
        const left = ["g", "h", "i"];
        for (const id of left)
          expect(await queue.get(id)).toMatchObject({ state: "pending", attempt: 1, charged: 0 });
        rig.now += 9_000;
        expect((await queue.dequeue({ max: 10, lease: "1m" })).map(({ id }) => id)).toEqual(left);
        for (const task of tasks) expect(await task.complete()).toMatchObject({ ok: true });
      },
    );

    test("extends no lease if they take less than half of it", async () => {
      const { queue } = await slow(5);
      const tasks = await queue.dequeue({ max: 10, lease: "10s" });
      expect(tasks.map(({ id, deadlineAt }) => [id, deadlineAt - rig.now])).toEqual(
        [...ids, "i"].map((id) => [id, 5_000]),
      );
    });

    test("returns no task whose lease was lost meanwhile: no handler starts with it", async () => {
      const { store, queue } = await slow(11);
      const { before } = store;
      let others: { id: string }[] = [];
      store.before = async (method, at) => {
        await before(method, at);
        if (rig.now === START || others.length > 0) return;
        others = [{ id: "" }];
        // The deadline has passed: another consumer gets the first task.
        others = await rig.queue({ offload: offloading(store) }).dequeue();
      };
      const handled: string[] = [];
      const report = await drain(queue, ({ id }) => void handled.push(id), { lease: "10s", batch: 10 });
      expect(others.map(({ id }) => id)).toEqual(["a"]);
      expect(handled.toSorted()).toEqual([...ids.slice(1), "i"]);
      expect(report).toMatchObject({ completed: 8, lost: 0 });
    });

    test("throws if the leases cannot be extended", async () => {
      const { store } = await slow(6);
      const send: Transport["send"] = (commands, options) => {
        if (rig.now === START) return rig.transport.send(commands, options);
        throw new SluiceError("redis_unreachable", "Redis is down");
      };
      const queue = rig.queue({ offload: offloading(store), transport: { send } });
      await expect(queue.dequeue({ max: 10, lease: "10s" })).rejects.toMatchObject({
        code: "redis_unreachable",
      });
      rig.now += 5_000;
      const next = rig.queue({ offload: offloading(store) });
      expect([...(await next.dequeue())]).toMatchObject([{ id: "a", attempt: 2, payload: large("a") }]);
      expect(await next.counts()).toMatchObject({ pending: 8, working: 1 });
    });
  });

  type Harm = (bytes: Uint8Array<ArrayBuffer>) => Uint8Array<ArrayBuffer> | undefined;
  test.each<[string, Harm, RegExp]>([
    ["is missing", () => undefined, /^the object of the payload is missing in the object store$/],
    ["is damaged", (bytes) => bytes.with(0, bytes[0]! ^ 1), /^the object of the payload is damaged: /],
    ["is cut off", (bytes) => bytes.slice(0, -1), /^the object of the payload is damaged: /],
  ])(
    "makes a task whose object %s a dead letter that says why, and harms no other",
    async (_, harm, message) => {
      const { store, queue } = setUp();
      await queue.enqueueMany(["a", "b", "c"].map((id) => ({ payload: large(id), id })));
      const at = (await store.keys()).find((name) => name.includes("/b/")) ?? "";
      const harmed = harm(new Uint8Array((await store.get(at, {})) ?? []));
      if (harmed) await store.put(at, harmed, { sha256: harmed });
      else await store.delete([at], {});
      const tasks = await queue.dequeue({ max: 10 });
      expect(tasks.map(({ id, payload }) => [id, payload])).toEqual(["a", "c"].map((id) => [id, large(id)]));
      expect(tasks.invalid).toBe(1);
      expect(await queue.get("b")).toMatchObject({
        state: "rejected",
        reason: "rejected",
        error: { name: "SluiceError", message: expect.stringMatching(message) as string },
      });
      await expect(queue.get("b", { payload: true })).rejects.toMatchObject({ code: "offload_failed" });
    },
  );

  test("without offload makes a dead letter that says why; with it the dead letter can be redriven", async () => {
    const { store, queue, operator } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    for (const encryption of [undefined, null, encrypting({ acceptPlain: true })]) {
      const plain = rig.queue({ encryption });
      expect(await plain.dequeue()).toMatchObject({ length: 0, invalid: 1 });
      const message = "the payload is in an object store, and this queue has no offload";
      expect(await plain.get("a")).toMatchObject({ state: "rejected", error: { message } });
      await expect(plain.get("a", { payload: true })).rejects.toEqual(
        new SluiceError("offload_failed", message),
      );
      const listed = await rig.operator({ encryption }).list({ state: "rejected", payloads: true });
      expect(listed.tasks).toMatchObject([{ id: "a", undecryptable: message }]);
      expect(listed.tasks[0]).not.toHaveProperty("payload");
      await operator.redrive({ reason: "rejected" });
    }
    const [task] = await queue.dequeue();
    expect(task?.payload).toEqual(large("a"));
    expect(await store.keys()).toHaveLength(1);
  });

  test("of a damaged reference is a dead letter too, and no path leads out of the task's objects", async () => {
    const { store, queue } = setUp();
    await queue.enqueue(large("a"), { id: "a" });
    const record = (await rig.space()).tasks.get("a") ?? "";
    const at = record.indexOf("\nb") + 2;
    const reference = Buffer.from(record.slice(at), "base64");
    const path = Buffer.from("../../../emails/b/N_____________");
    const forged = Buffer.concat([reference.subarray(0, 44), path]);
    await rig.command("HSET", key("tasks"), "a", record.slice(0, at) + forged.toString("base64"));
    const before = store.requests.length;
    expect(await queue.dequeue()).toMatchObject({ length: 0, invalid: 1 });
    expect(store.requests).toHaveLength(before);
    expect(await queue.get("a")).toMatchObject({
      error: { message: "the reference to the payload's object is damaged" },
    });
  });
});
