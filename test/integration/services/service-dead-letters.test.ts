import { describe, expect, test } from "vitest";
import { type DeadLetter, NonRetryableError, type Task } from "../../../src/index.ts";
import { MARKER } from "../../support/encrypting.ts";
import { useRig } from "../../support/rig.ts";
import { failing, useDeployments } from "./deployments.ts";

// What a deployment logs, and reports to its hook, of tasks that fail and become dead letters. In real time.
const rig = useRig();
const { lines, letters, queue, deployment, enqueue, expire, receiptOf } = useDeployments(rig);

/** The line of a dead letter, and what the hook gets. */
function expectLetters(
  ...expected: (Pick<DeadLetter, "id" | "reason"> & { attempts?: number; error?: DeadLetter["error"] })[]
) {
  const whole = expected.map(({ attempts = 1, ...letter }) => ({ queue: "emails", attempts, ...letter }));
  expect(letters).toEqual(whole);
  expect(lines.err).toEqual(
    whole.map(({ id: task, error, ...letter }) => ({
      ...letter,
      task,
      deadLetter: true,
      ...(error && { error: error.name === undefined ? error.message : `${error.name}: ${error.message}` }),
      ...(error?.stack !== undefined && { stack: error.stack }),
    })),
  );
  expect(JSON.stringify([letters, lines])).not.toContain(MARKER);
}

describe("one line, and one call of the hook, for a task", () => {
  test.each([
    ["whose last attempt failed", {}, "attempts_exhausted", "TypeError", () => new TypeError("HTTP 503")],
    [
      "whose handler threw a NonRetryableError",
      { maxAttempts: 5 },
      "rejected",
      "NonRetryableError",
      () => new NonRetryableError("HTTP 503"),
    ],
  ] as const)("%s", async (_, options, reason, name, thrown) => {
    await enqueue("a", options);
    await deployment({ consumers: failing(thrown) }).cron();
    const stack = expect.stringMatching(/\n +at /) as string;
    expectLetters({ id: "a", reason, error: { name, message: "HTTP 503", stack } });
    expect(lines.out).toMatchObject([{ drain: "emails", rejected: 1 }]);
  });

  test("whose result cannot be stored", async () => {
    await enqueue("a", { maxAttempts: 5 });
    await deployment({ consumers: { emails: () => () => MARKER } }).cron();
    const message = expect.stringMatching(/^the work is done, but its result cannot be stored/) as string;
    expect(letters).toMatchObject([{ id: "a", reason: "rejected", error: { message } }]);
    expect(lines.err).toHaveLength(1);
  });

  test("whose last lease expired, found by cron's sweep", async () => {
    await expire("a", "b");
    await deployment().cron();
    expectLetters({ id: "a", reason: "lease_expired" }, { id: "b", reason: "lease_expired" });
    expect(lines.out).toMatchObject([{ sweep: { rejected: 2 } }]);
  });

  test("whose last lease expired, found by a consumer", async () => {
    await expire("a");
    const { call, ended } = deployment({
      consumers: { emails: () => {} },
      fetch: async (_, tools) => Response.json(await tools.queue("emails").enqueue(1)),
    });
    await call("/signup");
    await ended();
    expectLetters({ id: "a", reason: "lease_expired" });
  });

  test("whose worker was failed over HTTP", async () => {
    await enqueue("a");
    await queue().dequeue({ worker: { name: "w" } });
    const { call } = deployment();
    const answer = await call("/v1/queues/emails/workers/w/fail", {});
    expect(await answer.json()).toEqual({ name: "w", returned: 0, rejected: 1, more: false });
    expectLetters({ id: "a", reason: "lease_expired" });
  });

  test.each([
    ["a settle", {}],
    ["a settle with the next pull", { pull: { max: 1 } }],
  ])("that a consumer rejects over HTTP, by %s", async (_, more) => {
    const receipt = await receiptOf("a");
    const error = { name: "HttpError", message: "410" };
    const settlements = [{ receipt, outcome: "reject", error }];
    const answer = await deployment().call("/v1/queues/emails/tasks/settle", { settlements, ...more });
    expect(answer.status).toBe(200);
    expectLetters({ id: "a", reason: "rejected", error });
  });

  test("that several consumers reject over HTTP at once, on a server", async () => {
    await enqueue("a");
    await enqueue("b");
    const tasks = await queue().dequeue({ max: 2 });
    const { call } = deployment({}, { coalesce: "in-flight", afterResponse: "any" });
    await Promise.all(
      tasks.map(({ receipt }) =>
        call("/v1/queues/emails/tasks/settle", {
          settlements: [{ receipt, outcome: "requeue", error: "no" }],
        }),
      ),
    );
    const error = { message: "no" };
    expectLetters(
      { id: "a", reason: "attempts_exhausted", error },
      { id: "b", reason: "attempts_exhausted", error },
    );
  });

  test("whose last lease expired, found by a pull over HTTP", async () => {
    await expire("a");
    const answer = await deployment().call("/v1/queues/emails/tasks/pull", {});
    expect(await answer.json()).toMatchObject({ tasks: [] });
    expectLetters({ id: "a", reason: "lease_expired" });
  });

  test.each([
    ["a sweep", {}],
    ["a deep sweep", { deep: true }],
  ])("whose last lease expired or was lost, found by %s over HTTP", async (_, body) => {
    await expire("a");
    if ("deep" in body) await rig.command("DEL", "sluice:{emails}:working");
    expect((await deployment().call("/v1/sweep", body)).status).toBe(200);
    expectLetters({ id: "a", reason: "lease_expired" });
  });

  test("that the deployment's own request handler rejects, or finds", async () => {
    await expire("found");
    const { call } = deployment({
      async fetch(_, tools) {
        await enqueue("a");
        const emails = tools.queue("emails");
        const [task] = await emails.dequeue({ max: 2 });
        await emails.dequeue({ max: 2 });
        return Response.json(await task?.reject("no"));
      },
    });
    await call("/own");
    expectLetters(
      { id: "found", reason: "lease_expired" },
      { id: "a", reason: "rejected", error: { message: "no" } },
    );
  });

  test("not for a task that is cancelled", async () => {
    await enqueue("waits");
    await queue().cancel("waits");
    const receipt = await receiptOf("works");
    await queue().cancel("works");
    const settlements = [{ receipt, outcome: "reject" }];
    await deployment().call("/v1/queues/emails/tasks/settle", { settlements });
    await enqueue("stops");
    const stopped: unknown[] = [];
    const handler = async ({ id, extend }: Task) => {
      await queue().cancel(id);
      await extend();
      stopped.push(id);
      throw new Error("stopped");
    };
    await deployment({ consumers: { emails: handler } }).cron();
    expect(stopped).toEqual(["stops"]);
    expect(await queue().get("stops")).toMatchObject({ state: "rejected", reason: "cancelled" });
    expectLetters();
  });
});

describe("a failed attempt that is not the last", () => {
  test("has a line that says what happens next, and no call of the hook", async () => {
    await enqueue("a", { maxAttempts: 2 });
    const handler = () => {
      throw new Error("HTTP 503");
    };
    await deployment({ consumers: { emails: { handler, backoff: ["1h"] } } }).cron();
    const dueAt = (await queue().get("a"))?.dueAt ?? 0;
    expect(lines.err).toEqual([
      {
        queue: "emails",
        task: "a",
        attempt: 1,
        failed: "Error: HTTP 503",
        ranFor: expect.any(Number),
        next: "retry",
        dueAt: new Date(dueAt).toISOString(),
        stack: expect.stringMatching(/\n +at /) as string,
      },
    ]);
    expect(letters).toEqual([]);
  });

  test.each(["timeout", "budget"] as const)(
    "by a handler that hangs when its %s is over is named with how long it ran",
    async (which) => {
      await enqueue("hangs", { maxAttempts: 2 });
      const handler = () => new Promise<never>(() => {});
      const bounds = which === "timeout" ? { timeout: 100 } : {};
      const consumers = { emails: { handler, backoff: ["1h"] as const, ...bounds } };
      await deployment({ consumers }, { budget: "1s" }).cron();
      expect(lines.err).toMatchObject([
        { queue: "emails", task: "hangs", attempt: 1, next: "retry", dueAt: expect.any(String) },
      ]);
      const [{ failed, ranFor }] = lines.err as [{ failed: string; ranFor: number }];
      expect(failed).toMatch(/^StoppedError: the .*; given up after \d+ ms$/);
      expect(ranFor).toBeGreaterThanOrEqual(100);
    },
  );

  test("has no second line: the last attempt of a handler that hangs is its dead letter", async () => {
    await enqueue("hangs");
    const handler = () => new Promise<never>(() => {});
    await deployment({ consumers: { emails: { handler, timeout: 100 } } }).cron();
    const message = expect.stringMatching(
      /^the handler took longer than its timeout; given up after \d+ ms$/,
    );
    expect(letters).toMatchObject([{ id: "hangs", error: { name: "StoppedError", message } }]);
    expect(lines.err).toMatchObject([{ task: "hangs", deadLetter: true, reason: "attempts_exhausted" }]);
    expect(lines.err).toHaveLength(1);
  });
});
