import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  applyQueues,
  type ApplyReport,
  defineQueue,
  type QueueDeclaration,
  Schedules,
  sweep,
  type Transport,
} from "../../../src/index.ts";
import { queueKeys } from "../../../src/queue/core/keys.ts";
import { callOf } from "../../../src/queue/redis/binding.ts";
import { declareScript } from "../../../src/queue/redis/operate-scripts.ts";
import { lastReply } from "../../../src/queue/redis/replies.ts";
import { encrypting, KEYS } from "../../support/encrypting.ts";
import { key, useRig } from "../../support/rig.ts";

const rig = useRig();

const declared = (declaration: QueueDeclaration) => [defineQueue("emails", declaration)];
const apply = (declaration: QueueDeclaration) =>
  applyQueues(rig.transport, declared(declaration), { now: () => rig.now });
const schedules = () => new Schedules("emails", { transport: rig.transport, now: () => rig.now });
const schedulesNow = async () => (await schedules().list()).schedules.map(({ name }) => name).toSorted();

const daily = { cron: "0 9 * * *", timeZone: "Europe/Berlin", payload: "daily" };
const hourly = { every: "1h", payload: "hourly" } as const;

describe("a declaration is applied", () => {
  test("with its settings and schedules, once", async () => {
    const declaration: QueueDeclaration = {
      maxWorking: 20,
      rate: { most: 5, per: "1s" },
      schedules: { daily },
    };
    expect(await apply(declaration)).toEqual({ applied: ["emails"], deferred: [], failed: [] });
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 20, rate: { most: 5, per: 1_000 } });
    expect(await schedules().get("daily")).toMatchObject({ ...daily, paused: false });
    const before = await rig.keySpace();
    expect(await apply(declaration)).toEqual({ applied: [], deferred: [], failed: [] });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("again only if it changes: what an operator has changed meanwhile stays until then", async () => {
    await apply({ maxWorking: 20, maxPending: 100, schedules: { daily } });
    await rig.operator().configure({ maxWorking: 1 });
    await schedules().pause("daily");
    expect((await apply({ maxWorking: 20, maxPending: 100, schedules: { daily } })).applied).toEqual([]);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 1, maxPending: 100 });
    expect((await apply({ maxWorking: 20, maxPending: 200, schedules: { daily } })).applied).toEqual([
      "emails",
    ]);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 20, maxPending: 200 });
    expect(await schedules().get("daily")).toMatchObject({ paused: true });
  });

  test("without what it no longer has; what was never declared stays", async () => {
    await schedules().put("by-hand", hourly);
    await rig.operator().configure({ statistics: true });
    await apply({ maxWorking: 20, maxPending: 9, schedules: { daily, hourly } });
    expect(await schedulesNow()).toEqual(["by-hand", "daily", "hourly"]);
    await apply({ maxPending: 9, schedules: { hourly } });
    expect(await schedulesNow()).toEqual(["by-hand", "hourly"]);
    const settings = { maxWorking: null, maxPending: 9, statistics: true };
    expect(await rig.operator().settings()).toMatchObject(settings);
    expect((await apply({})).applied).toEqual(["emails"]);
    expect(await schedulesNow()).toEqual(["by-hand"]);
    expect(await rig.operator().settings()).toMatchObject({ ...settings, maxPending: null });
    expect((await apply({})).applied).toEqual([]);
  });

  test("with the defaults of tasks for its schedules, unless a schedule sets them, and again if they change", async () => {
    const own = { ...hourly, maxAttempts: 7 };
    const withDefaults = (maxAttempts: number): QueueDeclaration => ({
      maxAttempts,
      lease: "1m",
      unique: "1d",
      schedules: { daily, own },
    });
    await apply(withDefaults(3));
    expect(await schedules().get("daily")).toMatchObject({ maxAttempts: 3, lease: 60_000 });
    expect(await schedules().get("own")).toMatchObject({ maxAttempts: 7, lease: 60_000 });
    expect((await apply(withDefaults(3))).applied).toEqual([]);
    expect((await apply(withDefaults(4))).applied).toEqual(["emails"]);
    expect(await schedules().get("daily")).toMatchObject({ maxAttempts: 4 });
    rig.now += 3_600_000;
    await sweep(rig.transport, { now: () => rig.now });
    const [task] = await rig.queue().dequeue();
    expect(task).toMatchObject({ payload: "hourly", leasedFor: 60_000 });
    expect((await rig.space()).tasks.get(task?.id ?? "")).toMatch(/;l=60000;m=7;/);
  });

  test("if it has neither settings nor schedules, nothing is written", async () => {
    expect(await apply({ maxAttempts: 3 })).toEqual({ applied: [], deferred: [], failed: [] });
    expect(await rig.keySpace()).toEqual({});
  });

  test("with all names that schedules may have", async () => {
    await apply({ schedules: { "a;b%c,d": daily, plain: hourly } });
    expect(await schedulesNow()).toEqual(["a;b%c,d", "plain"]);
    await apply({ schedules: { plain: hourly } });
    expect(await schedulesNow()).toEqual(["plain"]);
  });

  test("encrypted: its record shows nothing of the payloads, and new keys apply it again", async () => {
    const withKeys = (options = {}) => ({ schedules: { daily }, encryption: encrypting(options) });
    await apply(withKeys());
    const record = String(await rig.command("HGET", key("tasks"), "~declared"));
    expect(record).toMatch(/^1;;daily\nb[A-Za-z0-9+/=]+$/);
    expect((await apply(withKeys())).applied).toEqual([]);
    expect((await apply(withKeys({ keys: { new: KEYS.new }, current: "new" }))).applied).toEqual(["emails"]);
  });
});

describe("a declaration that cannot be applied", () => {
  test("is reported, does not stop the others, and is tried again", async () => {
    const report = await applyQueues(
      rig.transport,
      [
        defineQueue("broken", { schedules: { never: { cron: "0 0 31 2 *", payload: 1 } } }),
        defineQueue("emails", { maxWorking: 3 }),
      ],
      { now: () => rig.now },
    );
    expect(report).toMatchObject({
      applied: ["emails"],
      failed: [
        {
          queue: "broken",
          code: "invalid_argument",
          message: "schedules.never must occur at least once from now on",
        },
      ],
    });
  });

  test("names the schedule whose cron expression cannot be read", async () => {
    const report = await apply({ schedules: { daily: { cron: "0 25 * * *", payload: 1 } } });
    expect(report.failed).toEqual([
      {
        queue: "emails",
        code: "invalid_argument",
        message: "schedules.daily.cron must be a cron expression: Invalid value for hour: 25",
      },
    ]);
  });

  test("names the schedule that has an unknown option", async () => {
    const daily = { every: "1d", payload: 1, tries: 2 } as never;
    const report = await apply({ schedules: { daily } });
    expect(report.failed[0]?.message).toMatch(/^schedules\.daily\.tries is an unknown option/);
  });

  test("for one of its schedules still applies its settings and its other schedules", async () => {
    const never = { cron: "0 0 31 2 *", payload: 1 };
    const report = await apply({ maxWorking: 3, schedules: { never, hourly } });
    expect(report.failed).toMatchObject([{ queue: "emails", code: "invalid_argument" }]);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 3 });
    expect(await schedulesNow()).toEqual(["hourly"]);
  });

  test("for the payload of a schedule, which does not match the schema", async () => {
    const schema = z.object({ to: z.string() });
    const schedules = { daily: { every: "1d", payload: { to: 7 } } } as const;
    const queue = defineQueue("emails", { schema, schedules: schedules as never });
    const { failed } = await applyQueues(rig.transport, [queue], { now: () => rig.now });
    expect(failed).toMatchObject([
      { message: expect.stringContaining("schedules.daily.payload.to must match the schema") as string },
    ]);
  });

  test("because a later release applied one, leaves everything", async () => {
    await rig.command("HSET", key("tasks"), "~declared", "2;what it has");
    const before = await rig.keySpace();
    expect(await apply({ schedules: { daily } })).toMatchObject({
      applied: [],
      failed: [{ queue: "emails", code: "newer_schema" }],
    });
    expect(await rig.keySpace()).toEqual(before);
  });

  test("because a later release records one meanwhile, leaves that record", async () => {
    await rig.command("HSET", key("tasks"), "~declared", "2;what it has");
    const before = await rig.keySpace();
    const call = callOf(declareScript, queueKeys("emails"), { was: "", record: "1;;" });
    const outcomes = await rig.transport.send([call]);
    expect(() => declareScript.decode(lastReply(outcomes))).toThrow(
      expect.objectContaining({ code: "newer_schema" }) as Error,
    );
    expect(await rig.keySpace()).toEqual(before);
  });

  test("because the request failed after the settings, is applied by the next call", async () => {
    let requests = 0;
    const failing = {
      send: (...args: Parameters<typeof rig.transport.send>) => {
        if (++requests > 3) throw new Error("no route");
        return rig.transport.send(...args);
      },
    };
    const first = await applyQueues(failing, declared({ maxWorking: 3 }), { now: () => rig.now });
    expect(first.failed).toMatchObject([{ queue: "emails", message: "no route" }]);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 3 });
    expect((await apply({ maxWorking: 3 })).applied).toEqual(["emails"]);
    expect((await apply({ maxWorking: 3 })).applied).toEqual([]);
  });

  test("because another caller applies another one at the same time, gives way to it", async () => {
    const reports = await Promise.all([3, 4, 5].map((maxWorking) => apply({ maxWorking })));
    expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
    const won = [3, 4, 5].filter((_, i) => reports[i]?.applied.length === 1);
    expect(won).toHaveLength(1);
    expect(reports.flatMap(({ deferred }) => deferred)).toEqual(["emails", "emails"]);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: won[0] });
    expect((await apply({ maxWorking: 6 })).applied).toEqual(["emails"]);
    expect(await rig.operator().settings()).toMatchObject({ maxWorking: 6 });
  });
});

describe("a caller that another one has overtaken while it applied another declaration", () => {
  /** Applies a declaration, and `meanwhile` runs before its nth request. */
  const overtaken = (maxWorking: number, nth: number, meanwhile: () => Promise<unknown>) =>
    overtakenBy({ maxWorking }, nth, meanwhile);
  const overtakenBy = (declaration: QueueDeclaration, nth: number, meanwhile: () => Promise<unknown>) => {
    let requests = 0;
    const transport: Transport = {
      send: async (...args) => {
        if (++requests === nth) await meanwhile();
        return rig.transport.send(...args);
      },
    };
    return applyQueues(transport, declared(declaration), { now: () => rig.now });
  };
  const maxWorking = async () => (await rig.operator().settings()).maxWorking;

  // Its requests: the read, the beginning, the settings, the end.
  test.each([3, 4])("before its request %i leaves the other's to be applied again", async (nth) => {
    let other: ApplyReport | undefined;
    const report = await overtaken(3, nth, async () => (other = await apply({ maxWorking: 4 })));
    expect(other?.applied).toEqual(["emails"]);
    expect(report).toEqual({ applied: [], deferred: ["emails"], failed: [] });
    expect((await apply({ maxWorking: 4 })).applied).toEqual(["emails"]);
    expect(await maxWorking()).toBe(4);
    expect((await apply({ maxWorking: 4 })).applied).toEqual([]);
  });

  test("and that fails leaves the other's to be applied again", async () => {
    const report = await overtaken(3, 4, async () => {
      await apply({ maxWorking: 4 });
      throw new Error("no route");
    });
    expect(report.failed).toMatchObject([{ message: "no route" }]);
    expect((await apply({ maxWorking: 4 })).applied).toEqual(["emails"]);
    expect(await maxWorking()).toBe(4);
  });

  test("has no more to do if the other one has the same declaration", async () => {
    const report = await overtaken(3, 3, () => apply({ maxWorking: 3 }));
    expect(report).toEqual({ applied: ["emails"], deferred: [], failed: [] });
    expect(await maxWorking()).toBe(3);
    expect((await apply({ maxWorking: 3 })).applied).toEqual([]);
  });

  test("while the other one still applies: both give way, and the next call applies its own", async () => {
    let inner: Promise<ApplyReport> | undefined;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const outer = await overtaken(5, 3, async () => {
      let begun = () => {};
      const waiting = new Promise<void>((resolve) => (begun = resolve));
      inner = overtaken(6, 4, async () => {
        begun();
        await held;
      });
      await waiting;
    });
    release();
    expect([outer.deferred, (await inner)?.deferred]).toEqual([["emails"], ["emails"]]);
    expect((await apply({ maxWorking: 6 })).applied).toEqual(["emails"]);
    expect(await maxWorking()).toBe(6);
  });

  test("and by a third one: no schedule of any of them stays", async () => {
    const of = (name: string): QueueDeclaration => ({ schedules: { [name]: hourly } });
    const report = await overtakenBy(of("one"), 4, async () => {
      await overtakenBy(of("two"), 4, async () => void (await apply(of("three"))));
    });
    expect(report.deferred).toEqual(["emails"]);
    expect((await apply(of("three"))).applied).toEqual(["emails"]);
    expect(await schedulesNow()).toEqual(["three"]);
  });
});

test("applyQueues refuses bad input", async () => {
  await expect(applyQueues({} as never, declared({ maxWorking: 1 }))).rejects.toMatchObject({
    path: "transport",
  });
  await expect(applyQueues(rig.transport, [], { prefx: "x" } as never)).rejects.toMatchObject({
    path: "prefx",
  });
});

test("an invalid duration of one schedule keeps out neither the settings nor the other schedules", async () => {
  const declaration = {
    maxPending: 5,
    schedules: { bad: { every: "1 minute", payload: 1 }, good: { every: "1m", payload: 2 } },
  };
  const { failed } = await apply(declaration as QueueDeclaration);
  expect(failed).toMatchObject([{ queue: "emails", message: expect.stringContaining("every") }]);
  expect(await rig.operator().settings()).toMatchObject({ maxPending: 5 });
  expect((await schedules().list()).schedules).toMatchObject([{ name: "good" }]);
});
