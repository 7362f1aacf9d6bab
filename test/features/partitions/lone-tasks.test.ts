import { expect, test } from "vitest";
import { defineQueue } from "../../../src/index.ts";
import { useDeployments } from "../../deploy/deployments.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const its = useDeployments(rig);

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
