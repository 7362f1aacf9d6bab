import { describe, expect, test, vi } from "vitest";
import { key, useRig } from "../support/rig.ts";
import { counted } from "../support/watching.ts";

const rig = useRig();

describe("wait", () => {
  test("returns the task after it has ended", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    const waiting = queue.wait("a", { every: 10 });
    await (await queue.dequeue())[0]?.complete({ ok: true });
    expect(await waiting).toEqual(await queue.get("a"));
    expect(await queue.wait("a")).toMatchObject({ state: "completed", result: { ok: true } });
  });

  test("returns the task in its current state if the time is over", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    await queue.dequeue();
    for (const span of [0, 40]) {
      expect(await queue.wait("a", { for: span, every: 10 })).toEqual(await queue.get("a"));
    }
  });

  test("reads a task without its payload", async () => {
    await rig.queue().enqueue("the payload", { id: "a", headers: { kind: "large" } });
    const send = vi.fn(rig.transport.send);
    const task = await rig.queue({ transport: { send } }).wait("a", { for: 0 });
    expect(task).toMatchObject({ state: "pending", headers: { kind: "large" } });
    const replies = JSON.stringify(await Promise.all(send.mock.results.map(({ value }) => value as unknown)));
    expect([replies.includes("large"), replies.includes("the payload")]).toEqual([true, false]);
  });

  test("returns null at once for an unknown task, and if the record is removed while it waits", async () => {
    const { queue, looks } = counted(rig);
    expect(await queue.wait("none", { for: "1h" })).toBeNull();
    await queue.enqueue(1, { id: "a" });
    const before = looks();
    const waiting = queue.wait("a", { for: "1h", every: 10 });
    await vi.waitUntil(() => looks() > before, { timeout: 20_000, interval: 5 });
    await rig.command("DEL", key("tasks"), key("pending"));
    expect(await waiting).toBeNull();
  });

  test("throws `aborted` when its signal aborts", async () => {
    const queue = rig.queue();
    await queue.enqueue(1, { id: "a" });
    const aborting = new AbortController();
    const waiting = queue.wait("a", { for: "1h", every: "1h", signal: aborting.signal });
    aborting.abort();
    await expect(waiting).rejects.toMatchObject({ code: "aborted" });
    await expect(queue.wait("a", { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: "aborted" });
  });
});
