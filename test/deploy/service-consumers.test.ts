import { describe, expect, expectTypeOf, test, vi } from "vitest";
import { z } from "zod";
import { consumer } from "../../src/deploy/consumer.ts";
import { sluice } from "../../serverless/cloudflare.ts";
import { Schedules, type Task } from "../../src/index.ts";
import { instances } from "../support/instances.ts";
import { many } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { useDeployments } from "./deployments.ts";

// Consumers of a deployment.
const rig = useRig();
const { lines, queue, deployment } = useDeployments(rig);

interface Env {
  readonly MAIL_URL: string;
}

describe("a consumer", () => {
  test("gets what its schema makes of a payload; its own payload type, and an interface as environment", () => {
    const to = z.string();
    consumer({
      schema: z.object({ to, times: z.number().default(1) }),
      handler: ({ payload }, { MAIL_URL }: Env) => {
        expectTypeOf(payload).toEqualTypeOf<{ to: string; times: number }>();
        expectTypeOf(MAIL_URL).toEqualTypeOf<string>();
      },
    });
    const send = ({ payload }: Task<{ to: string }>, { MAIL_URL }: Env) => `${MAIL_URL} ${payload.to}`;
    expectTypeOf(sluice<Env>).toBeCallableWith({ consumers: { emails: send } });
    const schema = z.object({ to });
    expectTypeOf(sluice<Env>).toBeCallableWith({ consumers: { emails: { schema, handler: send } } });
  });
});

describe("cron's sweep", () => {
  const cron = () => deployment().cron();

  test("logs nothing if it moved nothing", async () => {
    await queue().enqueue(1);
    await cron();
    expect(lines).toEqual({ out: [], err: [] });
  });

  test("logs what it has promoted, and enqueued by a schedule", async () => {
    await queue().enqueue(1, { delay: 1 });
    const schedules = new Schedules("emails", { transport: rig.transport });
    await schedules.put("often", { every: "1h", payload: 1 });
    rig.now += 3_600_000;
    await cron();
    const sweep = expect.objectContaining({ promoted: 1, scheduled: 1, failed: [] });
    expect(lines).toEqual({ out: [{ sweep }], err: [] });
  });

  test("logs what it only promoted, or deleted when it expired, for those who debug", async () => {
    await queue().enqueue(1, { delay: 1 });
    rig.now += 1;
    await cron();
    const [task] = await queue().dequeue();
    await task!.complete();
    rig.now += 3_600_000;
    await cron();
    expect(lines).toEqual({ out: [], err: [] });
    await queue().enqueue(1, { delay: 1 });
    rig.now += 1;
    const debug = vi.spyOn(console, "debug").mockReturnValue();
    await deployment({ logger: "debug" }).cron();
    expect(debug.mock.calls).toEqual([[expect.stringMatching(/^{"sweep":{.*"promoted":1/)]]);
  });

  test("over HTTP takes two fifths of an invocation's time by default", async () => {
    await queue().enqueueMany(many(900, { delay: "1ms" }));
    await queue().enqueueMany(many(900, { delay: "1ms" }));
    rig.now += 1;
    let spent = 0;
    vi.spyOn(performance, "now").mockImplementation(() => spent);
    const transport = instances(rig).instance(() => (spent += 250));
    const CRON_SECRET = "a-secret-of-cron";
    const swept = async (budget: "1s" | "10s") => {
      const platform = { transport: () => transport, budget, afterResponse: "none" } as const;
      const headers = { authorization: `Bearer ${CRON_SECRET}` };
      const { service } = deployment({}, platform, { CRON_SECRET });
      return (await service.fetch(new Request("https://sluice.test/v1/sweep", { headers }))).json();
    };
    // Two requests take all of its time, and the second one promotes a thousand tasks.
    expect(await swept("1s")).toMatchObject({ promoted: 1_000, more: true });
    expect(await swept("10s")).toMatchObject({ promoted: 800, more: false });
  });

  test("logs an error if it could not sweep a queue", async () => {
    await queue().enqueue(1);
    await rig.command("SET", "sluice:{emails}:delayed", "no zset");
    await cron();
    const failed = [{ queue: "emails", code: "redis_error" }];
    expect(lines).toEqual({ out: [], err: [{ sweep: expect.objectContaining({ failed }) }] });
    await rig.command("DEL", "sluice:{emails}:delayed");
  });
});

describe("the deployment's request handler", () => {
  test("may return nothing, which is answered like a deployment without a handler", async () => {
    const { call } = deployment({ fetch: async () => undefined });
    const [answer, none] = [await call("/elsewhere"), await deployment().call("/elsewhere")];
    expect([answer.status, none.status]).toEqual([none.status, 404]);
    expect(await answer.json()).toEqual(await none.json());
  });
});

test("a binding to the consumer without a secret throws at once", () => {
  const wakeFetch = async () => new Response();
  expect(() => deployment({}, { wakeFetch })).toThrow("SLUICE_WAKE_SECRET must be set, because the binding");
});
