import { beforeEach, expect, test } from "vitest";
import { drain, drainBatches, NonRetryableError, type Queue, RetryAfter } from "../../../src/index.ts";
import { openTelemetry } from "../../../src/features/tracing/open-telemetry.ts";
import { useRig } from "../../support/rig.ts";
import { COUNT, ID, inSpan, OUTCOME, useTraces } from "./traces.ts";

const rig = useRig();
const traces = useTraces();
const tracing = openTelemetry();
let queue: Queue;
beforeEach(() => {
  queue = rig.queue({ tracing });
});

const processed = () => traces.shown().filter(({ name }) => name === "process emails");

test("a handler runs in a span below the enqueue, and what it enqueues is below it, in the same trace", async () => {
  const next = rig.queue({ tracing });
  const { id } = await queue.enqueue("first");
  await drain(
    queue,
    async ({ payload }) => {
      if (payload === "first") await next.enqueue("second", { id: "second" });
    },
    { concurrency: 1, batch: 1 },
  );
  const ofTasks = traces.finished().filter(({ name }) => /^(?:enqueue|process)/.test(name));
  expect(new Set(ofTasks.map((span) => span.spanContext().traceId)).size).toBe(1);
  expect(processed()).toEqual(
    [id, "second"].map((task) => ({
      name: "process emails",
      kind: "CONSUMER",
      parent: "enqueue emails",
      links: ["enqueue emails"],
      attributes: { [ID]: task, "messaging.sluice.attempt": 1, [OUTCOME]: "complete" },
    })),
  );
  const second = traces.shown().filter(({ name }) => name === "enqueue emails")[1];
  expect(second).toMatchObject({ parent: "process emails" });
  // Dequeues and settles of a drain outside of any span are traces of their own, with links.
  for (const span of traces.shown().filter(({ kind }) => kind === "CLIENT")) {
    expect(span).toEqual({ ...span, links: ["enqueue emails"] });
    expect(span).not.toHaveProperty("parent");
  }
});

test("a handler of a task without a trace is below the span that is active at the drain; of another links to it", async () => {
  await rig.queue().enqueue("plain", { id: "plain" });
  await queue.enqueue("traced", { id: "traced" });
  await inSpan("cron", () => drain(queue, () => {}));
  const found = (id: string) => processed().find(({ attributes }) => attributes[ID] === id);
  expect(found("plain")).toMatchObject({ parent: "cron" });
  expect(found("plain")).not.toHaveProperty("links");
  expect(found("traced")).toMatchObject({ parent: "enqueue emails", links: ["enqueue emails", "cron"] });
  const requests = traces.shown().filter(({ kind }) => kind === "CLIENT");
  expect(requests.map(({ parent }) => parent)).toEqual(["cron", "cron"]);
});

test("a handler for batches has one span, with links to each enqueue and the number of each outcome", async () => {
  await queue.enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
  const failed = new TypeError("no");
  await drainBatches(queue, () => [
    { outcome: "complete" },
    { outcome: "complete" },
    { outcome: "reject", error: failed },
  ]);
  expect(processed()).toEqual([
    {
      name: "process emails",
      kind: "CONSUMER",
      links: ["enqueue emails", "enqueue emails", "enqueue emails"],
      attributes: {
        [COUNT]: 3,
        [`${OUTCOME}.complete`]: 2,
        [`${OUTCOME}.reject`]: 1,
        "error.type": "TypeError",
      },
      error: "no",
      exceptions: ["no"],
    },
  ]);
});

test("a handler that throws has its error, with the number of the attempt", async () => {
  await queue.enqueue(1, { id: "a" });
  const thrown = [
    new RetryAfter(1, { cause: new RangeError("later") }),
    "a text",
    { payload: "secret" },
    new NonRetryableError("never"),
  ];
  for (let round = 0; round < 6; round++) {
    rig.now += 1_000;
    await drain(queue, ({ attempt }) => Promise.reject(thrown[attempt - 1] as Error), { backoff: [0] });
  }
  const ends = processed().map(({ attributes, error, exceptions }) => {
    const { "messaging.sluice.attempt": attempt, [OUTCOME]: outcome, "error.type": type } = attributes;
    return [attempt, outcome, type, error, exceptions];
  });
  expect(ends).toEqual([
    [1, "requeue", "RangeError", "later", ["later"]],
    [2, "requeue", "_OTHER", "a text", ["a text"]],
    [3, "requeue", "_OTHER", "a value that is not an Error", ["a value that is not an Error"]],
    [4, "reject", "NonRetryableError", "never", ["never"]],
  ]);
  expect(new Set(processed().map(({ parent }) => parent))).toEqual(new Set(["enqueue emails"]));
  const last = traces.finished().findLast(({ name }) => name === "process emails");
  expect(last?.events[0]?.attributes?.["exception.stacktrace"]).toMatch(/at .*handlers\.test/);
});

const sentence = { name: "no mailbox of ada", code: "ada@example.com is unknown" };
test.each([
  [new NonRetryableError("a secret"), "NonRetryableError"],
  // A name or code that is a sentence may quote a payload.
  [Object.assign(new Error("a"), sentence), "_OTHER"],
])(
  "a handler that throws shows only the kind of its error if exceptions are off: %s",
  async (error, kind) => {
    const quiet = rig.queue({ tracing: openTelemetry({ exceptions: false }) });
    await quiet.enqueue(1);
    await drain(quiet, () => Promise.reject(error));
    const [process] = processed();
    expect(process).toMatchObject({ attributes: { "error.type": kind }, error: true });
    expect(process).not.toHaveProperty("exceptions");
  },
);

test("a handler that does not stop ends its span when it is given up", async () => {
  await queue.enqueue(1, { id: "a" });
  await drain(queue, () => new Promise(() => {}), { budget: 1_000, timeout: 50 });
  expect(processed()).toMatchObject([{ attributes: { [OUTCOME]: "requeue", "error.type": "timeout" } }]);
});
