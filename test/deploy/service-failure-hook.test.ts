import { describe, expect, test } from "vitest";
import { defineQueue, Queue, type Task, type TaskFailure } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { env, failing, useDeployments } from "./deployments.ts";

// The hook of a deployment for failed attempts, and what the log has of them.
const rig = useRig();
const { lines, deployment, enqueue, letters, queue } = useDeployments(rig);

test("the log has the frames of the handler alone, and those of the cause", async () => {
  await enqueue("at-once");
  await enqueue("later");
  async function send(isLate: boolean) {
    if (isLate) await new Promise((resolve) => setTimeout(resolve, 1));
    throw new TypeError("fetch failed", { cause: new Error("no route") });
  }
  await deployment({
    consumers: {
      emails: async function mail({ id }) {
        await send(id === "later");
      },
    },
  }).cron();
  for (const { stack } of lines.err) {
    const frames =
      /^TypeError: fetch failed\n +at send .*\n +at (?:async )?\S*mail .*\n\[cause\]: Error: no route\n +at send .*\n +at (?:async )?\S*mail [^\n]*$/;
    expect(stack).toMatch(frames);
  }
  expect(lines.err).toHaveLength(2);
});

describe("onFailure of a deployment", () => {
  test("gets each failed attempt of its consumers with its stack, and the tools; the log has the stack too", async () => {
    await enqueue("retried", { maxAttempts: 2 });
    await enqueue("last");
    const failures: TaskFailure[] = [];
    await deployment({
      consumers: failing(function fails() {
        return new TypeError("fetch failed", { cause: new Error("no route") });
      }),
      queues: [defineQueue("graveyard")],
      async onFailure(failure, tools) {
        expect(tools).toMatchObject({ env, queue: expect.any(Function), waitUntil: expect.any(Function) });
        await tools.queue("graveyard").enqueue(1, { id: failure.id });
        failures.push(failure);
      },
    }).cron();
    const stack = expect.stringMatching(/^TypeError: fetch failed\n +at .*fails/);
    const error = { name: "TypeError", message: "fetch failed", cause: "no route", stack };
    const failed = { queue: "emails", attempt: 1, ranFor: expect.any(Number), error };
    expect(failures.toSorted((a, b) => (a.id > b.id ? 1 : -1))).toEqual([
      { ...failed, id: "last", next: "dead_letter" },
      { ...failed, id: "retried", next: "retry", dueAt: expect.any(Number) },
    ]);
    const letter = { queue: "emails", reason: "attempts_exhausted", attempts: 1 };
    expect(letters).toEqual([{ ...letter, id: "last", error }]);
    const line = { queue: "emails", stack };
    expect(lines.err.toSorted((a, b) => (String(a["task"]) > String(b["task"]) ? 1 : -1))).toEqual([
      { ...letter, ...line, task: "last", deadLetter: true, error: "TypeError: fetch failed (no route)" },
      {
        ...line,
        task: "retried",
        attempt: 1,
        failed: "TypeError: fetch failed (no route)",
        ranFor: expect.any(Number),
        next: "retry",
        dueAt: expect.any(String),
      },
    ]);
    expect(lines.out).toMatchObject([{ drain: "emails", requeued: 1, rejected: 1, ended: "empty" }]);
    const { error: kept } = (await queue().get("last")) ?? {};
    expect(kept).toMatchObject({ name: "TypeError", message: "fetch failed", cause: "no route" });
    const { dueAt = 0 } = (await queue().get("retried")) ?? {};
    expect(failures.find(({ id }) => id === "retried")).toMatchObject({ dueAt });
    expect(lines.err.find(({ task }) => task === "retried")).toMatchObject({
      dueAt: new Date(dueAt).toISOString(),
    });
    const copies = await new Queue("graveyard", { transport: rig.transport }).dequeue({ max: 9 });
    expect(copies.map(({ id }) => id).toSorted()).toEqual(["last", "retried"]);
  });

  test("ends before cron does, and its failure is one line", async () => {
    await enqueue("a", { maxAttempts: 2 });
    let ended = false;
    await deployment({
      consumers: failing(() => new Error("no")),
      async onFailure() {
        await new Promise((resolve) => setTimeout(resolve, 20));
        ended = true;
        throw new Error("the receiver is down");
      },
    }).cron();
    expect(ended).toBe(true);
    expect(lines.err).toContainEqual({ onFailure: "emails", task: "a", failed: "the receiver is down" });
  });

  test("that never ends holds up no other task", async () => {
    await enqueue("a", { maxAttempts: 2 });
    await enqueue("b", { maxAttempts: 2 });
    const seen: string[] = [];
    const handler = ({ id }: Task) => {
      seen.push(id);
      throw new Error("no");
    };
    const consumers = { emails: { concurrency: 1, handler } };
    await deployment({ consumers, onFailure: () => new Promise(() => {}) }, { budget: "1s" }).cron();
    expect(seen.toSorted()).toEqual(["a", "b"]);
  });
});
