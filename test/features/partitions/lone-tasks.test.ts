import { afterEach, expect, test, vi } from "vitest";
import { defineQueue } from "../../../src/index.ts";
import { useDeployments } from "../../deploy/deployments.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const its = useDeployments(rig);
afterEach(() => void vi.restoreAllMocks());

test("each lone task of a queue with partitions starts its consumer, also soon after another", async () => {
  const emails = defineQueue<number>("emails", { partitions: 3 });
  const done: number[] = [];
  const payloads = [1, 2, 3, 4, 5, 6];
  const { call, ended } = its.deployment({
    consumers: [emails.consumer(({ payload }) => void done.push(payload))],
    fetch: async (_, { queue }) => Response.json(await queue(emails).enqueue(payloads[done.length] ?? 0)),
  });
  for (const payload of payloads) {
    await call();
    await ended();
    expect(done.at(-1)).toBe(payload);
    rig.now += 500;
  }
});

test("a lone task starts its consumer soon after a drain during which the queue was divided", async () => {
  const done: string[] = [];
  // Both are in partition 0.
  const ids = ["t4", "t5"];
  let id = "";
  let during = async () => {
    await rig.operator().resize(2);
    // The drain then looks for tasks in partition 1.
    vi.spyOn(Math, "random").mockReturnValue(0.9);
  };
  const { call, ended } = its.deployment({
    consumers: {
      async emails(task) {
        await during();
        done.push(task.id);
      },
    },
    fetch: async (_, { queue }) => Response.json(await queue("emails").enqueue(1, { id })),
  });
  for (const next of ids) {
    id = next;
    await call();
    await ended();
    vi.restoreAllMocks();
    during = async () => {};
    rig.now += 100;
  }
  expect(done).toEqual(ids);
  const stored = await rig.command("HMGET", "sluice:{emails}/0:tasks", ...ids);
  expect(stored).toEqual(["", ""]);
});
