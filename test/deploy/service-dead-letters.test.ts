import { describe, expect, test } from "vitest";
import { type DeadLetter, NonRetryableError, type Task } from "../../src/index.ts";
import { MARKER } from "../support/encrypting.ts";
import { useRig } from "../support/rig.ts";
import { failing, useDeployments } from "./deployments.ts";

// What a deployment logs, and reports to its hook, of tasks that fail and become dead letters.
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
  test("whose handler threw a NonRetryableError", async () => {
    await enqueue("a", { maxAttempts: 5 });
    await deployment({ consumers: failing(() => new NonRetryableError("gone")) }).cron();
    const stack = expect.stringMatching(/\n +at /) as string;
    expectLetters({
      id: "a",
      reason: "rejected",
      error: { name: "NonRetryableError", message: "gone", stack },
    });
    expect(lines.out).toMatchObject([{ drain: "emails", rejected: 1 }]);
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

  const error = { name: "HttpError", message: "410" };
  const settlements = async () => [{ receipt: await receiptOf("a"), outcome: "reject", error }];
  test.each<[string, string, () => Promise<object>, Parameters<typeof expectLetters>[0]["reason"]]>([
    [
      "whose worker an operator fails",
      "queues/emails/workers/w/fail",
      async () => {
        await enqueue("a");
        await queue().dequeue({ worker: { name: "w" } });
        return {};
      },
      "taken_back",
    ],
    [
      "that a settle rejects",
      "queues/emails/tasks/settle",
      async () => ({ settlements: await settlements() }),
      "rejected",
    ],
    [
      "that a settle with the next pull rejects",
      "queues/emails/tasks/settle",
      async () => ({ settlements: await settlements(), pull: { max: 1 } }),
      "rejected",
    ],
    [
      "whose last lease expired, found by a pull",
      "queues/emails/tasks/pull",
      () => expire("a").then(() => ({})),
      "lease_expired",
    ],
    [
      "whose last lease expired, found by a sweep",
      "sweep",
      () => expire("a").then(() => ({})),
      "lease_expired",
    ],
    [
      "whose lease was lost, found by a deep sweep",
      "sweep",
      async () => {
        await expire("a");
        await rig.command("DEL", "sluice:{emails}:working");
        return { deep: true };
      },
      "lease_expired",
    ],
  ])("over HTTP, %s", async (_, path, prepare, reason) => {
    expect((await deployment().call(`/v1/${path}`, await prepare())).status).toBe(200);
    expectLetters({ id: "a", reason, ...(reason === "rejected" && { error }) });
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
