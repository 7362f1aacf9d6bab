import { beforeEach, describe, expect, test, vi } from "vitest";
import type { Platform, ServiceOptions } from "../../src/deploy/service.ts";
import { type Duration, Operator, Schedules, type Task, type Transport } from "../../src/index.ts";
import { many } from "../support/new-tasks.ts";
import { useRig } from "../support/rig.ts";
import { SLUICE_WAKE_SECRET, useDeployments, wakeBinding } from "./deployments.ts";

// The alarms that a deployment sets, and what it does when they ring. Times are hours, so that it does
// not matter how long the test takes.
const rig = useRig();
const { lines, alarms: set, withAlarms, queue, ...its } = useDeployments(rig);
const deployment = (options: ServiceOptions, platform: Partial<Platform> = {}) =>
  its.deployment(options, { ...withAlarms, ...platform }, { SLUICE_WAKE_SECRET });
const schedulesOf = (name: string) => new Schedules(name, { transport: rig.transport });

const consumer = (handler: (task: Task<never>) => unknown = () => {}) => ({ consumers: { emails: handler } });

/** A consumer that fails each first attempt. */
const failsOnce = (backoff: Duration) => ({
  consumers: {
    emails: {
      backoff: [backoff],
      handler: ({ attempt }: Task<never>) => {
        if (attempt === 1) throw new Error("once");
      },
    },
  },
});

const platforms = [
  ["an invocation", {}],
  ["a process", { afterResponse: "any" }],
] as const;

describe.each(platforms)("%s sets an alarm", (_, platform) => {
  test("for what its request handler delays, and for the next occurrence of a schedule", async () => {
    const fetch: ServiceOptions["fetch"] = async (__, around) => {
      await around.queue("emails").enqueue(1, { delay: "1h" });
      await around.queue("others").enqueue(1, { delay: "1h" });
      await around.schedules("others").put("x", { every: "2h", payload: 1 });
      return new Response();
    };
    const { call, ended } = deployment({ ...consumer(), fetch }, platform);
    await call();
    await ended();
    expect(set).toEqual([
      ["wake", "emails", 1],
      ["sweep", "others", 2],
    ]);
  });

  test("for what is left when its consumer has emptied the queue", async () => {
    await queue().enqueueMany([{ payload: 1 }, { payload: 2, delay: "2h" }]);
    await deployment(consumer(), platform).ring("wake");
    expect(set).toEqual([["wake", "emails", 2]]);
  });

  test("for tasks that its consumer requeues", async () => {
    await queue().enqueue(1);
    await deployment(failsOnce("1h"), platform).ring("wake");
    expect(set).toEqual([
      ["wake", "emails", 1],
      ["wake", "emails", 1],
    ]);
  });

  test("for what its cron finds to be due later", async () => {
    await queue().enqueue(1, { delay: "1h" });
    await schedulesOf("others").put("x", { every: "2h", payload: 1 });
    await deployment(consumer(), platform).cron();
    expect(set).toEqual([
      ["wake", "emails", 1],
      ["sweep", "others", 2],
    ]);
  });

  test("not while the queue is paused, or if nothing is due later", async () => {
    await queue().enqueueMany(many(2));
    await deployment(consumer(), platform).ring("wake");
    await queue().enqueue(1, { delay: "1h" });
    await new Operator("emails", { transport: rig.transport }).pause();
    await deployment(consumer(), platform).ring("wake");
    expect(set).toEqual([]);
  });
});

describe("an alarm that rings", () => {
  test.each(platforms)("in %s starts the consumer, which takes what is due", async (_, platform) => {
    const done: unknown[] = [];
    const { ring } = deployment(
      consumer(({ id }) => done.push(id)),
      platform,
    );
    await queue().enqueue(1, { id: "x", delay: 1 });
    rig.now += 1;
    await ring("wake");
    expect(done).toEqual(["x"]);
  });

  test("for a schedule enqueues the occurrence, and the consumer works on it", async () => {
    const done: unknown[] = [];
    await schedulesOf("emails").put("x", { every: "3h", payload: 1 });
    rig.now += 3 * 3_600_000;
    await deployment(consumer(({ id }) => done.push(id))).ring("sweep");
    expect(done).toEqual([`x.${rig.now}`]);
    expect(set).toEqual([["sweep", "emails", 3]]);
  });

  test("for a queue whose consumer is elsewhere wakes it there", async () => {
    const { woken, wakeFetch } = wakeBinding();
    await queue().enqueue(1, { id: "x", delay: 1 });
    await queue().enqueue(1, { delay: "1h" });
    rig.now += 1;
    await deployment({}, { wakeFetch }).ring("wake");
    expect([woken, set]).toEqual([[{ queue: "emails" }], [["wake", "emails", 1]]]);
    expect(await queue().counts()).toMatchObject({ pending: 1, delayed: 1 });
  });

  test("too early changes nothing, and is set again", async () => {
    const done: unknown[] = [];
    await queue().enqueue(1, { delay: "1h" });
    const { ring } = deployment(consumer(({ id }) => done.push(id)));
    for (const kind of ["wake", "sweep"] as const) await ring(kind);
    expect([done, set]).toEqual([[], [1, 2].map(() => ["wake", "emails", 1])]);
  });

  test("while Redis cannot be reached fails, and the next cron finds what is due", async () => {
    const done: unknown[] = [];
    let reachable = false;
    const transport: Transport = {
      send: (commands, options) =>
        reachable ? rig.transport.send(commands, options) : Promise.reject(new Error("no route")),
    };
    const { ring, cron } = deployment(
      consumer(() => done.push(1)),
      { transport: () => transport },
    );
    await queue().enqueue(1);
    for (const kind of ["wake", "sweep"] as const) await expect(ring(kind)).rejects.toThrow("no route");
    reachable = true;
    await cron();
    expect(done).toEqual([1]);
  });
});

test.each(platforms)(
  "an alarm that cannot be set fails neither the enqueue nor the drain in %s, and is logged",
  async (_, platform) => {
    const broken = { set: () => Promise.reject(new Error("no object")) };
    const done: unknown[] = [];
    const { call, ended } = deployment(
      {
        ...consumer(() => done.push(1)),
        fetch: async (__, around) =>
          Response.json(
            await around.queue("emails").enqueueMany([{ payload: 1 }, { payload: 1, delay: "1h" }]),
          ),
      },
      { ...platform, alarms: () => broken },
    );
    await call();
    await ended();
    expect(done).toEqual([1]);
    expect(lines.err).toEqual([1, 2].map(() => ({ wake: "emails", failed: "no object" })));
  },
);

describe("an invocation with alarms", () => {
  test("waits for what is due within seconds, and sets no alarm for it", async () => {
    await queue().enqueue(1);
    await deployment(failsOnce("1s")).ring("wake");
    expect(set).toEqual([]);
    expect(await queue().counts()).toMatchObject({ pending: 0, delayed: 0, working: 0 });
  });

  test("whose time is over sets one at once, unless it wakes another invocation", async () => {
    const slow = consumer(() => new Promise((resolve) => setTimeout(resolve, 300)));
    await queue().enqueueMany(many(20));
    await deployment(slow, { budget: "1s" }).ring("wake");
    expect(set.splice(0)).toEqual([["wake", "emails", 0]]);
    const { woken, wakeFetch } = wakeBinding();
    await deployment(slow, { budget: "1s", wakeFetch }).ring("wake");
    expect([set, woken.length > 0]).toEqual([[], true]);
  });

  test("has those of its prefix", () => {
    const prefixes: unknown[] = [];
    const alarms: Platform["alarms"] = (prefix) => (prefixes.push(prefix), withAlarms.alarms());
    for (const more of [{ SLUICE_PREFIX: "mine" }, undefined]) its.deployment({}, { alarms }, more);
    expect(prefixes).toEqual(["mine", undefined]);
  });
});

describe("on a machine whose clock is a day ahead", () => {
  beforeEach(() => {
    vi.spyOn(Date, "now").mockImplementation(() => rig.now + 86_400_000);
  });

  test("alarms are set for Redis's time, once a sweep has read it", async () => {
    const { id } = await queue().enqueue(1, { delay: "1h" });
    const dueAt = (await queue().get(id))?.dueAt;
    const { cron, call, ended, ring } = deployment({
      ...consumer(),
      fetch: async (_, around) => Response.json(await around.queue("emails").enqueue(1, { at: dueAt })),
    });
    await cron();
    await call();
    await ended();
    await ring("wake");
    expect(set).toEqual([1, 2, 3].map(() => ["wake", "emails", 1]));
  });
});
