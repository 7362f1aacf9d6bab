import { beforeEach, expect, test } from "vitest";
import { z } from "zod";
import type { DeploymentTools, ServiceOptions } from "../../src/deploy/service.ts";
import { Queue, Schedules, type Task } from "../../src/index.ts";
import { encrypting, KEYS, MARKER, shows } from "../support/encrypting.ts";
import { useRig } from "../support/rig.ts";
import { useDeployments } from "./deployments.ts";

// What the deployment's request handler enqueues, and how its consumer reads it.
const rig = useRig();
const { lines, queue: raw, deployment } = useDeployments(rig);
const payload = { to: MARKER };
const schema = z.object({ to: z.string(), times: z.number().default(1) });
const read = { ...payload, times: 1 };

let seen: unknown[];
beforeEach(() => {
  seen = [];
});

/** A deployment with a consumer of "emails" that has a schema, and an encryption with the keys of its environment. */
function deployed(fetch?: ServiceOptions<{ KEY: string }>["fetch"]) {
  const handler = (task: Task<never>) => void seen.push(task.payload);
  const encryption = ({ KEY }: { KEY: string }) => encrypting({ current: KEY });
  const consumers = { emails: { schema, encryption, handler } };
  return deployment({ consumers, fetch }, { afterResponse: "none" }, { KEY: "old" });
}

/** Runs `work` in the deployment's request handler, and returns the deployment. */
async function handling(work: (around: DeploymentTools<{ KEY: string }>) => Promise<unknown>) {
  const its = deployed(async (_, around) => {
    await work(around);
    return new Response();
  });
  expect((await its.callAlone("/signup")).status).toBe(200);
  return its;
}

test.each([
  ["no options", undefined],
  ["options that leave it open", { encryption: undefined, schema: undefined, lease: "1m" }],
] as const)(
  "with %s its queue and schedules are encrypted like its consumer's, which gets the payloads",
  async (_, options) => {
    const { cron } = await handling(async ({ queue, schedules }) => {
      await queue("emails", options).enqueue(payload, { id: "a" });
      await schedules("emails").put("often", { every: "1h", payload });
      expect(await schedules("emails").get("often")).toMatchObject({ payload });
    });
    expect((await raw().get("a"))?.state).toBe("pending");
    expect(shows(await rig.keySpace())).toBe(false);
    rig.now += 3_600_000;
    await cron();
    expect(seen).toEqual([read, read]);
    expect(lines.err).toEqual([]);
  },
);

test("its queue refuses what the consumer's schema refuses", async () => {
  await handling(async ({ queue }) => {
    const refused = queue("emails").enqueue({ to: 7 });
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path: "payload.to" });
  });
  expect(await raw().counts()).toMatchObject({ pending: 0 });
});

test("an encryption or a schema in the options replaces the consumer's, and null removes it; a queue without a consumer has neither", async () => {
  const other = encrypting({ keys: { old: KEYS.other } });
  const daily = { every: "1d", payload } as const;
  await handling(async ({ queue, schedules }) => {
    await queue("emails", { encryption: other, schema: z.number() }).enqueue(7, { id: "other" });
    await queue("emails", { encryption: null }).enqueue(payload, { id: "plain" });
    await schedules("emails", { encryption: other }).put("other", daily);
    await schedules("emails", { encryption: null }).put("plain", daily);
    await queue("elsewhere").enqueue(payload);
  });
  const transport = rig.transport;
  const [task, plain] = await new Queue("emails", { transport, encryption: null }).dequeue({ max: 2 });
  expect([task?.payload, plain?.payload]).toEqual([expect.any(Uint8Array), payload]);
  const kept = (encryption?: typeof other) => new Schedules("emails", { transport, encryption });
  expect(await kept(other).get("other")).toMatchObject({ payload });
  expect(await kept().get("plain")).toMatchObject({ payload });
  expect((await raw("elsewhere").dequeue()).map((one) => one.payload)).toEqual([payload]);
});
