import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { z } from "zod";
import {
  type DeploymentTools,
  Service,
  type ServiceOptions,
} from "../../../serverless/deployment/service.ts";
import type { Environment } from "../../../src/config.ts";
import { Queue, Schedules, type Task } from "../../../src/index.ts";
import { encrypting, KEYS, MARKER, shows } from "../../support/encrypting.ts";
import { useRig } from "../../support/rig.ts";

// What the deployment's request handler enqueues, and how its consumer reads it.
const rig = useRig();
const payload = { to: MARKER };
const schema = z.object({ to: z.string() });
const encryption = () => encrypting();
const raw = () => rig.queue({ now: undefined });

let seen: unknown[];
let lines: { out: unknown[]; err: unknown[] };
beforeEach(() => {
  seen = [];
  lines = { out: [], err: [] };
  vi.spyOn(console, "log").mockImplementation((line) => lines.out.push(JSON.parse(String(line))));
  vi.spyOn(console, "error").mockImplementation((line) => lines.err.push(JSON.parse(String(line))));
});
afterEach(() => void vi.restoreAllMocks());

/** A deployment with a consumer of "emails" that has a schema and an encryption. */
function deployed(fetch?: ServiceOptions["fetch"]) {
  const env: Environment = {
    UPSTASH_REDIS_REST_URL: "https://redis.test",
    UPSTASH_REDIS_REST_TOKEN: "t",
  };
  const handler = (task: Task<never>) => void seen.push(task.payload);
  const consumers = { emails: { schema, encryption, handler } };
  const transport = () => rig.transport;
  return new Service(env, { consumers, fetch }, { transport, budget: "10s", afterResponse: "none" });
}

/** Runs `work` in the deployment's request handler, and returns the deployment. */
async function handling(work: (around: DeploymentTools) => Promise<unknown>): Promise<Service> {
  const service = deployed(async (_, around) => {
    await work(around);
    return new Response();
  });
  expect((await service.fetch(new Request("https://sluice.test/signup"))).status).toBe(200);
  return service;
}

test.each([
  ["no options", undefined],
  ["options that leave it open", { encryption: undefined, schema: undefined, lease: "1m" }],
] as const)(
  "with %s its queue is encrypted like its consumer's, which gets the payload",
  async (_, options) => {
    const service = await handling(({ queue }) => queue("emails", options).enqueue(payload, { id: "a" }));
    expect((await raw().get("a"))?.state).toBe("pending");
    expect(shows(await rig.keySpace())).toBe(false);
    await service.cron();
    expect(seen).toEqual([payload]);
    expect(lines.err).toEqual([]);
  },
);

test("its schedules are encrypted like its consumer's queue, which gets their tasks", async () => {
  const every = { every: "1s", payload } as const;
  let due = 0;
  const service = await handling(async ({ schedules }) => {
    due = (await schedules("emails").put("often", every)).nextAt ?? 0;
    expect(await schedules("emails").get("often")).toMatchObject({ payload });
  });
  expect(shows(await rig.keySpace())).toBe(false);
  await expect.poll(() => Date.now(), { timeout: 5_000 }).toBeGreaterThan(due);
  await service.cron();
  expect(seen).toEqual([payload]);
});

test("its queue refuses what the consumer's schema refuses", async () => {
  await handling(async ({ queue }) => {
    const refused = queue("emails").enqueue({ to: 7 });
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path: "payload.to" });
  });
  expect(await raw().counts()).toMatchObject({ pending: 0 });
});

test("an encryption or a schema in the options replaces the consumer's, and null removes it", async () => {
  const other = encrypting({ keys: { old: KEYS.other } });
  const daily = { every: "1d", payload } as const;
  await handling(async ({ queue, schedules }) => {
    await queue("emails", { encryption: other, schema: z.number() }).enqueue(7, { id: "other" });
    await queue("emails", { encryption: null }).enqueue(payload, { id: "plain" });
    await schedules("emails", { encryption: other }).put("other", daily);
    await schedules("emails", { encryption: null }).put("plain", daily);
  });
  const transport = rig.transport;
  const [task, plain] = await new Queue("emails", { transport, encryption: null }).dequeue({ max: 2 });
  expect([task?.payload, plain?.payload]).toEqual([expect.any(Uint8Array), payload]);
  const kept = (encryption?: typeof other) => new Schedules("emails", { transport, encryption });
  expect(await kept(other).get("other")).toMatchObject({ payload });
  expect(await kept().get("plain")).toMatchObject({ payload });
});

test("a queue without a consumer has neither encryption nor schema", async () => {
  await handling(({ queue }) => queue("elsewhere").enqueue(payload, { id: "a" }));
  const [task] = await new Queue("elsewhere", { transport: rig.transport }).dequeue();
  expect(task?.payload).toEqual(payload);
});

test("each task that its consumer cannot decrypt, or that does not fit its schema, is logged without its payload", async () => {
  await raw().enqueueMany([{ payload, id: "plain" }]);
  await rig
    .queue({ now: undefined, encryption: encryption() })
    .enqueueMany([{ payload: { to: [MARKER] }, id: "misfit" }, { payload }]);
  await deployed().cron();
  expect(seen).toEqual([payload]);
  const letter = { queue: "emails", deadLetter: true, reason: "rejected", attempts: 1 };
  expect(lines.err).toEqual([
    {
      ...letter,
      task: "plain",
      error: "SluiceError: the payload cannot be decrypted: it is not encrypted, and acceptPlain is not set",
    },
    { ...letter, task: "misfit", error: "SchemaError: payload must match the schema of the queue" },
  ]);
  expect(lines.out).toMatchObject([{ drain: "emails", completed: 1, rejected: 2, ended: "empty" }]);
});
