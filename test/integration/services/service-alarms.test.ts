import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { AlarmKind } from "../../../serverless/deployment/alarms.ts";
import { Service, type Platform, type ServiceOptions } from "../../../serverless/deployment/service.ts";
import { type Duration, Operator, Schedules, type Task, type Transport } from "../../../src/index.ts";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";

// The alarms that a deployment sets, and what it does when they ring, in real time.
const rig = useRig();
const env = {
  UPSTASH_REDIS_REST_URL: "https://redis.test",
  UPSTASH_REDIS_REST_TOKEN: "t",
  SLUICE_WAKE_SECRET: `whsec_${btoa("a secret of at least 24 bytes")}`,
};
const queue = () => rig.queue({ now: undefined });

/** The alarms that were set: kind, queue, and the time from then, s, to the nearest ten. */
let set: [AlarmKind, string, number][];
let lines: string[];
beforeEach(() => {
  set = [];
  lines = [];
  vi.spyOn(console, "log").mockImplementation(() => {});
  vi.spyOn(console, "error").mockImplementation((line) => void lines.push(String(line)));
});
afterEach(() => void vi.restoreAllMocks());

const alarms = {
  set: (kind: AlarmKind, name: string, after: number) =>
    void set.push([kind, name, 10 * Math.round(after / 10_000)]),
};

type Options = Pick<ServiceOptions, "consumers" | "fetch">;

function deployment(options: Options, platform: Partial<Platform> = {}) {
  const service = new Service(env, options, {
    transport: () => rig.transport,
    budget: "10s",
    afterResponse: "bounded",
    alarms: () => alarms,
    ...platform,
  });
  const after: Promise<unknown>[] = [];
  return {
    ring: (kind: AlarmKind, name = "emails") => service.ring(kind, name),
    cron: () => service.cron(),
    async fetch() {
      const request = new Request("https://sluice.test/");
      await service.fetch(request, (promise) => void after.push(promise));
      await Promise.all(after);
    },
  };
}

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

/** Waits until that time has passed. */
async function past(instant: number) {
  while (Date.now() <= instant) await sleep(10);
}

const platforms = [
  ["an invocation", {}],
  ["a process", { afterResponse: "any" }],
] as const;

describe.each(platforms)("%s sets an alarm", (_, platform) => {
  test("for what its request handler delays, and for the next occurrence of a schedule", async () => {
    const fetch: Options["fetch"] = async (__, around) => {
      await around.queue("emails").enqueue(1, { delay: "1m" });
      await around.queue("others").enqueue(1, { delay: "1m" });
      await around.schedules("others").put("x", { every: "2m", payload: 1 });
      return new Response();
    };
    await deployment({ ...consumer(), fetch }, platform).fetch();
    expect(set).toEqual([
      ["wake", "emails", 60],
      ["sweep", "others", expect.any(Number)],
    ]);
  });

  test("for what is left when its consumer has emptied the queue", async () => {
    await queue().enqueueMany([{ payload: 1 }, { payload: 2, delay: "2m" }]);
    await deployment(consumer(), platform).ring("wake");
    expect(set).toEqual([["wake", "emails", 120]]);
  });

  test("for tasks that its consumer requeues", async () => {
    await queue().enqueue(1);
    await deployment(failsOnce("1m"), platform).ring("wake");
    expect(set).toEqual([
      ["wake", "emails", 60],
      ["wake", "emails", 60],
    ]);
  });

  test("for what its cron finds to be due later", async () => {
    await queue().enqueue(1, { delay: "1m" });
    await new Schedules("others", { transport: rig.transport }).put("x", { every: "2m", payload: 1 });
    await deployment(consumer(), platform).cron();
    expect(set).toEqual([
      ["wake", "emails", 60],
      ["sweep", "others", expect.any(Number)],
    ]);
  });

  test("not while the queue is paused, or if nothing is due later", async () => {
    await queue().enqueueMany(many(2));
    await deployment(consumer(), platform).ring("wake");
    await queue().enqueue(1, { delay: "1m" });
    await new Operator("emails", { transport: rig.transport }).pause();
    await deployment(consumer(), platform).ring("wake");
    expect(set).toEqual([]);
  });
});

describe("an alarm that rings", () => {
  test.each(platforms)("in %s starts the consumer, which takes what is due", async (_, platform) => {
    const done: unknown[] = [];
    const its = deployment(
      consumer(({ id }) => done.push(id)),
      platform,
    );
    await queue().enqueue(1, { id: "x", delay: 1 });
    await past(Date.now() + 5);
    await its.ring("wake");
    expect(done).toEqual(["x"]);
  });

  test("for a schedule enqueues the occurrence, and the consumer works on it", async () => {
    const done: unknown[] = [];
    const { nextAt } = await new Schedules("emails", { transport: rig.transport }).put("x", {
      every: "1s",
      payload: 1,
    });
    await past(nextAt ?? 0);
    await deployment(consumer(({ id }) => done.push(id))).ring("sweep");
    expect(done).toEqual([`x.${nextAt}`]);
    expect(set).toEqual([["sweep", "emails", 0]]);
  });

  test("for a queue whose consumer is elsewhere wakes it there", async () => {
    const woken: unknown[] = [];
    const wakeFetch = async (request: Request) => {
      woken.push(((await request.json()) as { data: unknown }).data);
      return new Response(null, { status: 202 });
    };
    const its = deployment({}, { wakeFetch });
    await queue().enqueue(1, { id: "x", delay: 1 });
    await queue().enqueue(1, { delay: "1m" });
    await past(Date.now() + 5);
    await its.ring("wake");
    expect([woken, set]).toEqual([[{ queue: "emails" }], [["wake", "emails", 60]]]);
    expect(await queue().counts()).toMatchObject({ pending: 1, delayed: 1 });
  });

  test("too early changes nothing, and is set again", async () => {
    const done: unknown[] = [];
    await queue().enqueue(1, { delay: "1m" });
    const its = deployment(consumer(({ id }) => done.push(id)));
    await its.ring("wake");
    await its.ring("sweep");
    expect([done, set]).toEqual([
      [],
      [
        ["wake", "emails", 60],
        ["wake", "emails", 60],
      ],
    ]);
  });

  test("while Redis cannot be reached fails, and the next cron finds what is due", async () => {
    const done: unknown[] = [];
    let reachable = false;
    const transport: Transport = {
      send: (commands, options) =>
        reachable ? rig.transport.send(commands, options) : Promise.reject(new Error("no route")),
    };
    const its = deployment(
      consumer(() => done.push(1)),
      { transport: () => transport },
    );
    await queue().enqueue(1);
    await expect(its.ring("wake")).rejects.toThrow("no route");
    await expect(its.ring("sweep")).rejects.toThrow("no route");
    reachable = true;
    await its.cron();
    expect(done).toEqual([1]);
  });
});

describe("an alarm that cannot be set", () => {
  const failing = { set: () => Promise.reject(new Error("no object")) };

  test.each(platforms)(
    "fails neither the enqueue nor the drain in %s, and is logged",
    async (_, platform) => {
      const fetch: Options["fetch"] = async (__, around) =>
        Response.json(
          await around.queue("emails").enqueueMany([{ payload: 1 }, { payload: 1, delay: "1m" }]),
        );
      const done: unknown[] = [];
      const its = deployment(
        { ...consumer(() => done.push(1)), fetch },
        { ...platform, alarms: () => failing },
      );
      await its.fetch();
      expect(done).toEqual([1]);
      expect(lines).toEqual(Array.from({ length: 2 }, () => '{"wake":"emails","failed":"no object"}'));
    },
  );
});

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
    expect(set).toEqual([["wake", "emails", 0]]);
    set = [];
    let woken = 0;
    const wakeFetch = async () => {
      woken++;
      return new Response(null, { status: 202 });
    };
    await deployment(slow, { budget: "1s", wakeFetch }).ring("wake");
    expect([set, woken > 0]).toEqual([[], true]);
  });

  test("has those of its prefix", () => {
    const prefixes: unknown[] = [];
    const platform: Platform = {
      transport: () => rig.transport,
      budget: "10s",
      afterResponse: "bounded",
      alarms: (prefix) => (prefixes.push(prefix), alarms),
    };
    const services = [{ SLUICE_PREFIX: "mine" }, {}].map(
      (more) => new Service({ ...env, ...more }, {}, platform),
    );
    expect([services.length, prefixes]).toEqual([2, ["mine", undefined]]);
  });
});

describe("on a machine whose clock is an hour ahead", () => {
  beforeEach(() => {
    const right = Date.now.bind(Date);
    vi.spyOn(Date, "now").mockImplementation(() => right() + 3_600_000);
  });

  test("alarms are set for Redis's time, once a sweep has read it", async () => {
    const { id } = await queue().enqueue(1, { delay: "1m" });
    const dueAt = (await queue().get(id))?.dueAt;
    const its = deployment({
      ...consumer(),
      fetch: async (_, around) => Response.json(await around.queue("emails").enqueue(1, { at: dueAt })),
    });
    await its.cron();
    await its.fetch();
    await its.ring("wake");
    expect(set).toEqual(Array.from({ length: 3 }, () => ["wake", "emails", 60]));
  });
});
