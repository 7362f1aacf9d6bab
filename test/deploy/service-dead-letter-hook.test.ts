import { describe, expect, test, vi } from "vitest";
import type { DeadLetter, Task } from "../../src/index.ts";
import { useRig } from "../support/rig.ts";
import { env, failing, useDeployments } from "./deployments.ts";

// The hook of a deployment: what it may do, how long it may take, and what it cannot harm.
const rig = useRig();
const { during, deployment, enqueue, expire, receiptOf } = useDeployments(rig);

describe("the hook", () => {
  test("may enqueue with the tools, whose consumer then works in the same invocation; its error can be held by JSON", async () => {
    await expire("a");
    await enqueue("b");
    const seen: DeadLetter[] = [];
    const cause = new Error("no route");
    const { cron } = deployment({
      consumers: {
        ...failing(() => new TypeError("fetch failed", { cause })),
        graveyard: ({ payload }: Task<DeadLetter>) => void seen.push(payload),
      },
      async onDeadLetter(letter, tools) {
        expect(tools).toMatchObject({
          env,
          schedules: expect.any(Function),
          waitUntil: expect.any(Function),
        });
        await tools.queue("graveyard").enqueue(letter);
      },
    });
    await cron();
    const stack = expect.stringMatching(/\n +at /) as string;
    const error = { name: "TypeError", message: "fetch failed", cause: "no route", stack };
    const letter = { queue: "emails", attempts: 1 };
    expect(seen.toSorted((one, other) => (one.id < other.id ? -1 : 1))).toEqual([
      { ...letter, id: "a", reason: "lease_expired" },
      { ...letter, id: "b", reason: "attempts_exhausted", error },
    ]);
  });

  test("that never ends holds up neither other tasks nor the response, and cron for its time at most", async () => {
    await expire("a");
    const receipt = await receiptOf("b");
    const seen: string[] = [];
    const { call, cron } = deployment(
      {
        consumers: { emails: ({ id }: Task) => void seen.push(id) },
        onDeadLetter: () => new Promise(() => {}),
      },
      { budget: "1s" },
    );
    const settlements = [{ receipt, outcome: "reject" }];
    expect((await call("/v1/queues/emails/tasks/settle", { settlements })).status).toBe(200);
    await enqueue("c");
    await cron();
    expect(seen).toEqual(["c"]);
  });

  describe("runs to its end", () => {
    /** A hook that ends only when it is released. */
    function slow() {
      const begun: string[] = [];
      const ended: string[] = [];
      let release = () => {};
      const released = during(new Promise<void>((resolve) => (release = resolve)));
      const onDeadLetter = async ({ id }: DeadLetter) => {
        begun.push(id);
        await released;
        ended.push(id);
      };
      const begins = (...ids: string[]) =>
        vi.waitUntil(() => ids.every((id) => begun.includes(id)), { timeout: 60_000 });
      return { ended, onDeadLetter, release, begins };
    }

    const rejection = async (id: string) => ({
      settlements: [{ receipt: await receiptOf(id), outcome: "reject" }],
    });

    test("after the response, with the platform's waitUntil", async () => {
      const { ended, onDeadLetter, release } = slow();
      const { call, ended: all } = deployment({ onDeadLetter });
      await call("/v1/queues/emails/tasks/settle", await rejection("a"));
      expect(ended).toEqual([]);
      release();
      await all();
      expect(ended).toEqual(["a"]);
    });

    test("before the response of a platform without", async () => {
      const { ended, onDeadLetter, release, begins } = slow();
      const { callAlone } = deployment({ onDeadLetter }, { afterResponse: "none" });
      const path = "/v1/queues/emails/tasks/settle";
      const endedBefore = callAlone(path, await rejection("a")).then(() => [...ended]);
      await begins("a");
      release();
      expect(await endedBefore).toEqual(["a"]);
    });

    test("before cron's invocation ends, for its sweep and its consumers", async () => {
      const { ended, onDeadLetter, release, begins } = slow();
      await expire("a");
      await enqueue("b");
      const consumers = failing(() => new Error("x"));
      const endedBefore = deployment({ onDeadLetter, consumers })
        .cron()
        .then(() => ended.toSorted());
      await begins("a", "b");
      release();
      expect(await endedBefore).toEqual(["a", "b"]);
    });

    test("in a process, which waits for it when it closes, not for its consumer", async () => {
      const { ended, onDeadLetter, release } = slow();
      await enqueue("a");
      const background: Promise<unknown>[] = [];
      const { cron } = deployment(
        { onDeadLetter, consumers: failing(() => new Error("x")) },
        { afterResponse: "any", waitUntil: (promise) => void background.push(promise) },
      );
      await cron();
      expect(ended).toEqual([]);
      release();
      await Promise.all(background);
      expect(ended).toEqual(["a"]);
    });
  });
});
