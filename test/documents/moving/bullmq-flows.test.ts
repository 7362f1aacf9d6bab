// What docs/moving/bullmq.md says of flows, by running both.
import { FlowProducer } from "bullmq";
import { testQueue } from "sluice-queue/testing";
import { type EdgeOn, flow, type FlowOptions } from "../../../src/http/flows/index.ts";
import { expect, test } from "vitest";
import { useBull } from "./bull.ts";

const bull = useBull();

/** What became of a parent with two children, of which the first one fails, and which of them began. */
interface Outcome {
  readonly parent: string;
  readonly other: string;
  /** Whether the parent could read the failure; undefined if it did not begin. */
  readonly failure?: boolean;
}

const isFailure = (failure: unknown) => JSON.stringify(failure)?.includes("HTTP 503");

/**
 * Adds the flow to BullMQ, and starts a worker.
 * @param waits whether the other child is delayed
 * @returns what has become of it so far
 */
async function inBullMQ(option: string, waits: boolean): Promise<() => Promise<Outcome>> {
  const producer = new FlowProducer({ connection: bull.client() });
  bull.atEnd(() => producer.close());
  const child = (name: string, opts = {}) => ({ name, queueName: "emails", opts });
  const { job, children = [] } = await producer.add({
    ...child("parent"),
    children: [
      child("fails", option === "" ? {} : { [option]: true }),
      child("other", waits ? { delay: 3_600_000 } : {}),
    ],
  });
  let failure: boolean | undefined;
  bull.started(async (called) => {
    if (called.name === "fails") throw new Error("HTTP 503");
    if (called.name !== "parent") return;
    failure = Object.values(await called.getIgnoredChildrenFailures()).some(isFailure);
    // It may not complete before its children, so BullMQ's documentation says to do this.
    if (option === "continueParentOnFailure") await called.removeUnprocessedChildren();
  });
  return async () => ({
    parent: await job.getState(),
    other: (await children[1]?.job.getState()) ?? "",
    ...(failure !== undefined && { failure }),
  });
}

/** The same with `flow`. */
async function inSluice(on: EdgeOn, options: FlowOptions, waits: boolean): Promise<Outcome> {
  const here = testQueue<string>("here");
  const { queue } = here;
  const item = (ref: string, more = {}) => ({ ref, queue, payload: ref, maxAttempts: 1, ...more });
  const { tasks } = await flow(
    [
      item("fails"),
      item("other", waits ? { delay: "1h" } : {}),
      item("parent", { after: ["fails", "other"].map((ref) => ({ ref, on })) }),
    ],
    options,
  );
  let failure: boolean | undefined;
  const work = () =>
    here.work(async (task) => {
      if (task.payload === "fails") throw new Error("HTTP 503");
      if (task.payload === "parent") failure = isFailure((await task.before())["fails"]?.error);
    });
  await work();
  // What a cancel lets go on may become pending after the last dequeue.
  await work();
  const stateOf = async (id = "") => {
    const found = await queue.get(id);
    return found?.state === "rejected" ? `rejected: ${found.reason}` : (found?.state ?? "");
  };
  const [parent, other] = [await stateOf(tasks["parent"]), await stateOf(tasks["other"])];
  return { parent, other, ...(failure !== undefined && { failure }) };
}

const fell = "rejected: dependency_failed";
const done = { parent: "completed", other: "completed" };

test.each<[option: string, theirs: Outcome, on: EdgeOn, options: FlowOptions, ours: Outcome]>([
  ["", { ...done, parent: "waiting-children" }, "completed", {}, { ...done, parent: fell }],
  [
    "failParentOnFailure",
    { parent: "failed", other: "delayed" },
    "completed",
    {},
    { parent: fell, other: "delayed" },
  ],
  ["ignoreDependencyOnFailure", { ...done, failure: true }, "ended", {}, { ...done, failure: true }],
  ["removeDependencyOnFailure", { ...done, failure: false }, "ended", {}, { ...done, failure: true }],
  [
    "continueParentOnFailure",
    { parent: "completed", other: "unknown", failure: true },
    "ended",
    { onFailure: "cancel" },
    { parent: "completed", other: "rejected: cancelled", failure: true },
  ],
])("a parent whose child fails, with the option %j", async (option, theirs, on, options, ours) => {
  const waits = theirs.other !== "completed";
  const state = await inBullMQ(option, waits);
  expect(await inSluice(on, options, waits)).toEqual(ours);
  await expect.poll(state, { timeout: 20_000 }).toEqual(theirs);
});

test("without children that have not begun, a parent begins", async () => {
  const producer = new FlowProducer({ connection: bull.client() });
  bull.atEnd(() => producer.close());
  const child = { name: "child", queueName: "emails", opts: { delay: 3_600_000 } };
  const { job } = await producer.add({ name: "parent", queueName: "emails", children: [child] });
  await job.removeUnprocessedChildren();
  expect(await job.getState()).toBe("waiting");

  const { queue } = testQueue<number>("here");
  const { tasks } = await flow(
    { ref: "child", queue, payload: 1, delay: "1h" },
    { ref: "parent", queue, payload: 2, after: { ref: "child", on: "ended" } },
  );
  await queue.cancel(tasks.child);
  expect(await queue.get(tasks.parent)).toMatchObject({ state: "pending" });
});
