import { beforeEach, describe, expect, test, vi } from "vitest";
import { type EndpointInfo, Endpoints, type EndpointsOptions } from "../../../src/open/endpoints/index.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

// What failures of an endpoint lead to: a pause of its group, tries, and in the end that it is disabled.

const rig = useRig();
const MINUTE = 60_000;
const DAY = 86_400_000;
const disabled: EndpointInfo[] = [];
let own: Endpoints;

const endpoints = (options: Partial<EndpointsOptions> = {}) =>
  new Endpoints(QUEUE, {
    transport: rig.transport,
    now: () => rig.now,
    onEndpointDisabled: (endpoint) => disabled.push(endpoint),
    ...options,
  });

beforeEach(async () => {
  vi.spyOn(console, "error").mockImplementation(() => {});
  disabled.length = 0;
  own = endpoints();
  await own.add({ id: "acme", url: "https://acme.example", maxWorking: 7 });
  await own.add({ id: "other", url: "https://other.example" });
  return () => vi.restoreAllMocks();
});

const send = async (count: number) => {
  for (let i = 0; i < count; i++) await own.send({ type: "t", payload: i });
};

/** Delivers what may be delivered now to one endpoint; the others succeed. Returns how many there were. */
async function deliver(ok: boolean, { id = "acme", max = 100, gone = false } = {}): Promise<number> {
  const tasks = await rig.queue().dequeue({ max });
  let count = 0;
  for (const task of tasks) {
    const isIt = task.group === id;
    if (isIt) count += 1;
    const isDone = !isIt || ok;
    const endpoint = await own.find({ task }).catch(() => undefined);
    if (!endpoint) await task.requeue({ delay: "10s", count: false });
    else if (endpoint.disabled) await task.reject(endpoint.disabled);
    else {
      await own.report({ ok: isDone, gone: gone && isIt }, { task });
      await (isDone ? task.complete() : task.requeue({ delay: "10s" }));
    }
  }
  return count;
}

const stateOf = async (id = "acme") => (await endpoints().get(id))?.state;
const groupOf = async (id = "acme") => {
  const { paused, pausedUntil, maxWorking } = await rig.operator().groupSettings(id);
  return { paused, pausedUntil, maxWorking };
};

describe("a circuit", () => {
  test("opens after five failures that are half of the deliveries, and pauses its group alone", async () => {
    await send(4);
    expect(await deliver(false)).toBe(4);
    expect(await stateOf()).toBe("failing");
    await send(1);
    await deliver(false);
    expect(await endpoints().get("acme")).toMatchObject({
      state: "open",
      failingSince: START,
      retryAt: START + 30_000,
    });
    expect(await groupOf()).toEqual({ paused: true, pausedUntil: START + 30_000, maxWorking: 1 });
    await send(2);
    // The other endpoint gets its events.
    expect(await deliver(true)).toBe(0);
    expect(await stateOf("other")).toBe("active");
  });

  test("stays closed if fewer than half of the deliveries fail, also if they succeeded before", async () => {
    await send(6);
    expect(await deliver(true)).toBe(6);
    await send(5);
    await deliver(false);
    expect(await stateOf()).toBe("failing");
    // The successes are no longer counted after a minute.
    rig.now += MINUTE;
    await send(5);
    await deliver(false);
    expect(await stateOf()).toBe("open");
  });

  test("tries one delivery after the pause, and pauses for twice as long if it fails", async () => {
    await send(5);
    await deliver(false);
    await send(3);
    for (const pause of [30_000, 60_000, 120_000]) {
      rig.now += pause;
      await rig.sweepOnce();
      expect(await deliver(false)).toBe(1);
      const { retryAt } = (await endpoints().get("acme")) ?? {};
      expect(retryAt).toBe(rig.now + 2 * pause);
      expect(await deliver(false)).toBe(0);
    }
    rig.now += 240_000;
    await rig.sweepOnce();
    expect(await deliver(true)).toBe(1);
    expect(await endpoints().get("acme")).toMatchObject({
      state: "active",
      failingSince: null,
      retryAt: null,
    });
    expect(await groupOf()).toEqual({ paused: false, pausedUntil: null, maxWorking: 7 });
    await rig.sweepOnce();
    expect(await deliver(true)).toBe(7);
  });

  test("never pauses for longer than half an hour", async () => {
    await send(5);
    await deliver(false);
    for (let i = 0; i < 8; i++) {
      rig.now = ((await endpoints().get("acme"))?.retryAt ?? 0) + 1;
      await rig.sweepOnce();
      expect(await deliver(false)).toBe(1);
    }
    const { retryAt } = (await endpoints().get("acme")) ?? {};
    expect(retryAt).toBe(rig.now + 30 * MINUTE);
  });

  test("that has opened lets deliveries wait that were taken before, without an attempt", async () => {
    await send(6);
    const taken = await rig.queue().dequeue({ max: 12 });
    const [late, ...tasks] = taken.filter(({ group }) => group === "acme");
    await Promise.all(tasks.map((task) => own.report({ ok: false, gone: false }, { task })));
    rig.now += 5_000;
    if (!late) throw new Error("no task");
    await expect(own.find({ task: late })).rejects.toMatchObject({
      name: "RetryAfter",
      delay: 25_000,
      count: false,
    });
  });

  test("takes the end of deliveries that began before for nothing", async () => {
    await send(5);
    await deliver(false);
    const report = (ok: boolean) => own.report({ ok, gone: false }, { task: { group: "acme" } });
    await report(true);
    expect(await stateOf()).toBe("open");
    await report(false);
    expect(await endpoints().get("acme")).toMatchObject({ state: "open", retryAt: START + 30_000 });
  });

  test("that is open pauses for no longer if its endpoint is changed", async () => {
    await send(5);
    await deliver(false);
    rig.now += 29_000;
    await own.change("acme", { maxWorking: 3 });
    expect(await groupOf()).toEqual({ paused: true, pausedUntil: START + 30_000, maxWorking: 1 });
  });

  /** Another instance that opens the circuit. Something happens just before it gives the group its settings. */
  const openingLate = (first: () => Promise<unknown>): Endpoints => {
    let isLate = false;
    return endpoints({
      transport: {
        send: async (commands, options) => {
          const configures = commands.some((one) => "script" in one && one.script.name === "configure");
          if (configures && !isLate) {
            isLate = true;
            await first();
          }
          return rig.transport.send(commands, options);
        },
      },
    });
  };

  test.for([false, true])(
    "that was closed meanwhile leaves no pause behind, except an operator's: %s",
    async (pauses) => {
      await send(4);
      await deliver(false);
      const late = openingLate(async () => {
        rig.now += 30_000;
        await own.upkeep();
        await own.report({ ok: true, gone: false }, { task: { group: "acme" } });
        expect(await stateOf()).toBe("active");
        // It is not a delivery, but what it says is the same: the pause is over.
        rig.now -= 29_000;
        if (pauses) await rig.operator().configureGroup("acme", { paused: { for: "1h" } });
      });
      await late.report({ ok: false, gone: false }, { task: { group: "acme" } });
      const pausedUntil = pauses ? START + 3_601_000 : null;
      expect(await groupOf()).toEqual({ paused: pauses, pausedUntil, maxWorking: 7 });
    },
  );

  test("of an endpoint that was removed meanwhile leaves no settings behind", async () => {
    await send(4);
    await deliver(false);
    const late = openingLate(() => own.remove("acme"));
    await late.report({ ok: false, gone: false }, { task: { group: "acme" } });
    expect(await groupOf()).toEqual({ paused: false, pausedUntil: null, maxWorking: null });
  });

  test("leaves the group paused that an operator has paused", async () => {
    await send(5);
    const taken = (await rig.queue().dequeue({ max: 10 })).filter(({ group }) => group === "acme");
    await rig.operator().configureGroup("acme", { paused: true });
    for (const task of taken) await own.report({ ok: false, gone: false }, { task });
    expect(await stateOf()).toBe("open");
    expect(await groupOf()).toMatchObject({ paused: true, pausedUntil: null });
    rig.now += 30_000;
    await own.report({ ok: true, gone: false }, { task: { group: "acme" } });
    expect(await groupOf()).toEqual({ paused: true, pausedUntil: null, maxWorking: 7 });
  });

  test("neither shortens nor ends a pause of an operator that lasts for longer", async () => {
    await send(5);
    const taken = (await rig.queue().dequeue({ max: 10 })).filter(({ group }) => group === "acme");
    const paused = { paused: true, pausedUntil: START + 3_600_000 };
    await rig.operator().configureGroup("acme", { paused: { for: "1h" } });
    for (const task of taken) await own.report({ ok: false, gone: false }, { task });
    expect(await groupOf()).toEqual({ ...paused, maxWorking: 1 });
    expect(await endpoints().get("acme")).toMatchObject({ state: "open", retryAt: START + 30_000 });
  });

  test("has the limits that are given", async () => {
    own = endpoints({ circuit: { failures: 1, share: 1, pause: "5s", longest: "7s", window: "10s" } });
    await send(1);
    await deliver(false);
    expect(await groupOf()).toMatchObject({ pausedUntil: START + 5_000 });
    rig.now += 10_000;
    await rig.sweepOnce();
    await deliver(false);
    expect(await groupOf()).toMatchObject({ pausedUntil: rig.now + 7_000 });
    for (const circuit of [{ share: 0 }, { failures: 0 }, { pause: "1m", longest: "1s" }] as const)
      expect(() => endpoints({ circuit })).toThrow(/^circuit\./);
  });
});

describe("an endpoint is disabled", () => {
  test("after five days of failures, and reported once", async () => {
    await send(1);
    await deliver(false);
    rig.now += 5 * DAY - 1;
    await rig.sweepOnce();
    await deliver(false);
    expect(disabled).toEqual([]);
    rig.now += 10_000;
    await rig.sweepOnce();
    await deliver(false);
    expect(disabled).toMatchObject([
      { id: "acme", state: "disabled", disabledReason: "failures", disabledAt: rig.now, failingSince: START },
    ]);
    await own.upkeep();
    expect(disabled).toHaveLength(1);
    expect(await stateOf("other")).toBe("active");
  });

  test("and not reported again when it is changed", async () => {
    await send(1);
    await deliver(false, { gone: true });
    await own.change("acme", { description: "asked" });
    await own.rotate("acme");
    await own.upkeep();
    expect(disabled).toHaveLength(1);
  });

  test("not if one of its deliveries succeeded meanwhile", async () => {
    await send(1);
    await deliver(false);
    rig.now += 4 * DAY;
    await rig.sweepOnce();
    await deliver(true);
    await send(1);
    await deliver(false);
    rig.now += 4 * DAY;
    await rig.sweepOnce();
    await deliver(false);
    expect(disabled).toEqual([]);
  });

  test("at once, if it wants no more, and its deliveries become dead letters that can be replayed", async () => {
    await send(3);
    await deliver(false, { max: 1, gone: true });
    expect(disabled).toMatchObject([{ disabledReason: "gone" }]);
    rig.now += 10_000;
    await rig.sweepOnce();
    expect(await deliver(true)).toBe(3);
    const { tasks } = await rig.operator().list({ state: "rejected" });
    expect(tasks.map(({ group }) => group)).toEqual(["acme", "acme", "acme"]);
    // It gets no event, but loses none.
    await send(1);
    await deliver(true);
    expect(await own.replay("acme", { since: START })).toEqual({ ok: false, code: "disabled" });
    rig.now += 10_000;
    await own.enable("acme");
    expect(await stateOf()).toBe("active");
    const replayed = { ok: true, replayed: 4, cursor: null, unreadable: 0 };
    expect(await own.replay("acme", { since: START, dryRun: true })).toEqual(replayed);
    expect(await own.replay("acme", { since: rig.now })).toMatchObject({ replayed: 0 });
    const first = await own.replay("acme", { since: START, limit: 1 });
    expect(first).toMatchObject({ replayed: 1, cursor: expect.any(String) as string });
    const cursor = first.ok ? first.cursor : null;
    expect(await own.replay("acme", { since: START, cursor: cursor ?? "" })).toMatchObject({ replayed: 3 });
    expect(await deliver(true)).toBe(4);
    expect(await own.replay("no", { since: 0 })).toEqual({ ok: false, code: "not_found" });
  });

  test("by an operator, without a report", async () => {
    await send(5);
    await deliver(false);
    expect(await own.disable("acme")).toMatchObject({ state: "disabled", disabledReason: "operator" });
    expect(await groupOf()).toMatchObject({ paused: false });
    expect(disabled).toEqual([]);
    expect(await own.enable("acme")).toMatchObject({ state: "active", failingSince: null });
    expect(await groupOf()).toEqual({ paused: false, pausedUntil: null, maxWorking: 7 });
  });

  test("never, if it is not to be", async () => {
    own = endpoints({ disableAfter: null, circuit: { failures: 100 } });
    await send(1);
    await deliver(false);
    rig.now += 100 * DAY;
    await rig.sweepOnce();
    await deliver(false);
    expect(await stateOf()).toBe("failing");
  });
});

describe("what a caller has left is made up for by a sweep", () => {
  /** Fails from a command on. */
  const dying = (command: RegExp): Transport => {
    let isDead = false;
    return {
      send: (commands, options) => {
        isDead ||= commands.some((one) => command.test("script" in one ? one.script.name : one.join(" ")));
        if (isDead) return Promise.reject(new Error("dead"));
        return rig.transport.send(commands, options);
      },
    };
  };

  test.for([/configure/, /noteApplied/])("if it died before %s", async (command) => {
    own = endpoints({ transport: dying(command) });
    await send(5);
    await deliver(false);
    expect(await stateOf()).toBe("open");
    own = endpoints();
    rig.now += 10_000;
    await own.upkeep();
    expect(await groupOf()).toEqual({ paused: true, pausedUntil: START + 30_000, maxWorking: 1 });
  });

  test("if the hook failed", async () => {
    own = endpoints({
      onEndpointDisabled: () => {
        throw new Error("no mail");
      },
    });
    await send(1);
    await deliver(false, { gone: true });
    own = endpoints();
    await own.upkeep();
    expect(disabled).toMatchObject([{ id: "acme" }]);
    await own.upkeep();
    expect(disabled).toHaveLength(1);
  });
});
