import { describe, expect, test } from "vitest";
import { z } from "zod";
import {
  applyQueues,
  type ApplyReport,
  defineQueue,
  Operator,
  type QueueDeclaration,
  Schedules,
  sweep,
  type Transport,
} from "../../../src/index.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { declareScript } from "../../../src/operate/operate-scripts.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { encrypting, KEYS } from "../../support/encrypting.ts";
import { instances } from "../../support/instances.ts";
import { key, useRig } from "../../support/rig.ts";

const rig = useRig();

const { now, instance, between, dying, schedulesOf: schedules } = instances(rig);
const applyTo = (transport: Transport, declaration: QueueDeclaration) =>
  applyQueues(transport, [defineQueue("emails", declaration)], { now });
const apply = (declaration: QueueDeclaration) => applyTo(instance(), declaration);
const schedulesNow = async () => (await schedules().list()).schedules.map(({ name }) => name).toSorted();
const settings = () => rig.operator().settings();
const NOTHING = { applied: [], deferred: [], failed: [] };
const APPLIED = { ...NOTHING, applied: ["emails"] };

const daily = { cron: "0 9 * * *", timeZone: "Europe/Berlin", payload: "daily" };
const hourly = { every: "1h", payload: "hourly" } as const;

describe("a declaration is applied", () => {
  test("with its settings and schedules, once", async () => {
    const declaration: QueueDeclaration = {
      maxWorking: 20,
      rate: { most: 5, per: "1s" },
      schedules: { daily },
    };
    expect(await apply(declaration)).toEqual(APPLIED);
    expect(await settings()).toMatchObject({ maxWorking: 20, rate: { most: 5, per: 1_000 } });
    expect(await schedules().get("daily")).toMatchObject({ ...daily, paused: false });
    const before = await rig.keySpace();
    expect(await apply(declaration)).toEqual(NOTHING);
    expect(await rig.keySpace()).toEqual(before);
  });

  test("again only if it changes: what an operator has changed meanwhile stays until then", async () => {
    const declaration = { maxWorking: 20, maxPending: 100, schedules: { daily } };
    await apply(declaration);
    await rig.operator().configure({ maxWorking: 1 });
    await schedules().pause("daily");
    expect(await apply(declaration)).toEqual(NOTHING);
    expect(await settings()).toMatchObject({ maxWorking: 1, maxPending: 100 });
    expect(await apply({ ...declaration, maxPending: 200 })).toEqual(APPLIED);
    expect(await settings()).toMatchObject({ maxWorking: 20, maxPending: 200 });
    expect(await schedules().get("daily")).toMatchObject({ paused: true });
  });

  test("without what it no longer has; what was never declared stays", async () => {
    await schedules().put("by-hand", hourly);
    await rig.operator().configure({ statistics: true });
    await apply({ maxWorking: 20, maxPending: 9, schedules: { daily, hourly } });
    expect(await schedulesNow()).toEqual(["by-hand", "daily", "hourly"]);
    await apply({ maxPending: 9, schedules: { hourly } });
    expect(await schedulesNow()).toEqual(["by-hand", "hourly"]);
    const left = { maxWorking: null, maxPending: 9, statistics: true };
    expect(await settings()).toMatchObject(left);
    expect(await apply({})).toEqual(APPLIED);
    expect(await schedulesNow()).toEqual(["by-hand"]);
    expect(await settings()).toMatchObject({ ...left, maxPending: null });
    expect(await apply({})).toEqual(NOTHING);
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
    await sweep(rig.transport, { now });
    const [task] = await rig.queue().dequeue();
    expect(task).toMatchObject({ payload: "hourly", leasedFor: 60_000 });
    expect((await rig.space()).tasks.get(task?.id ?? "")).toMatch(/;l=60000;m=7;/);
  });

  test("if it has neither settings nor schedules, nothing is written", async () => {
    expect(await apply({ maxAttempts: 3 })).toEqual(NOTHING);
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
    const never = { cron: "0 0 31 2 *", payload: 1 };
    const queues = [
      defineQueue("broken", { maxWorking: 3, schedules: { never, hourly } }),
      defineQueue("emails", { maxWorking: 3 }),
    ];
    const message = "broken.schedules.never must occur at least once from now on";
    for (const applied of [["emails"], []])
      expect(await applyQueues(instance(), queues, { now })).toMatchObject({
        applied,
        failed: [{ queue: "broken", code: "invalid_argument", message }],
      });
    // Its settings and its other schedules are applied.
    const broken = { transport: rig.transport, now };
    expect(await new Operator("broken", broken).settings()).toMatchObject({ maxWorking: 3 });
    expect((await new Schedules("broken", broken).list()).schedules).toMatchObject([{ name: "hourly" }]);
  });

  const payload = { to: "a" };
  test.each<[string, object, RegExp]>([
    [
      "a cron expression cannot be read",
      { cron: "0 25 * * *", payload },
      /^emails\.schedules\.daily\.cron must be a cron expression: "25" is no hour; allowed are \*, 0 to 23, /,
    ],
    [
      "an option is unknown",
      { every: "1d", payload, tries: 2 },
      /^emails\.schedules\.daily\.tries is an unknown option/,
    ],
    ["a duration is invalid", { every: "1 minute", payload }, /^emails\.schedules\.daily\.every/],
    [
      "the payload does not match the schema",
      { every: "1d", payload: { to: 7 } },
      /^emails\.schedules\.daily\.payload\.to must match the schema/,
    ],
  ])("names the schedule of which %s, and applies the rest", async (_, schedule, message) => {
    const schema = z.object({ to: z.string() });
    const good = { every: "1m", payload } as const;
    const declaration = { schema, maxPending: 5, schedules: { daily: schedule, good } };
    const { failed } = await apply(declaration as never);
    expect(failed).toEqual([
      { queue: "emails", code: "invalid_argument", message: expect.stringMatching(message) as string },
    ]);
    expect(await settings()).toMatchObject({ maxPending: 5 });
    expect(await schedulesNow()).toEqual(["good"]);
  });

  test("because a later release applied or records one, leaves everything", async () => {
    await rig.command("HSET", key("tasks"), "~declared", "2;what it has");
    const before = await rig.keySpace();
    const failed = [{ queue: "emails", code: "newer_schema" }];
    expect(await apply({ schedules: { daily } })).toMatchObject({ applied: [], failed });
    const call = callOf(declareScript, queueKeys("emails"), { was: "", record: "1;;" });
    const outcomes = await rig.transport.send([call]);
    expect(() => declareScript.decode(lastReply(outcomes))).toThrow(
      expect.objectContaining({ code: "newer_schema" }) as Error,
    );
    expect(await rig.keySpace()).toEqual(before);
  });

  test("because the request failed after the settings, is applied by the next call", async () => {
    const first = await applyTo(dying(3), { maxWorking: 3 });
    expect(first.failed).toMatchObject([{ queue: "emails", message: "killed" }]);
    expect(await settings()).toMatchObject({ maxWorking: 3 });
    expect(await apply({ maxWorking: 3 })).toEqual(APPLIED);
    expect(await apply({ maxWorking: 3 })).toEqual(NOTHING);
  });

  test("because another caller applies another one at the same time, gives way to it", async () => {
    const reports = await Promise.all([3, 4, 5].map((maxWorking) => apply({ maxWorking })));
    expect(reports.flatMap(({ failed }) => failed)).toEqual([]);
    const won = [3, 4, 5].filter((_, i) => reports[i]?.applied.length === 1);
    expect(won).toHaveLength(1);
    expect(reports.flatMap(({ deferred }) => deferred)).toEqual(["emails", "emails"]);
    expect(await settings()).toMatchObject({ maxWorking: won[0] });
    expect((await apply({ maxWorking: 6 })).applied).toEqual(["emails"]);
    expect(await settings()).toMatchObject({ maxWorking: 6 });
  });
});

describe("a caller that another one has overtaken while it applied another declaration", () => {
  /** Applies a declaration, and `meanwhile` runs before its nth request. */
  const overtaken = (
    declaration: QueueDeclaration | number,
    nth: number,
    meanwhile: () => Promise<unknown>,
  ) =>
    applyTo(
      between(nth - 1, meanwhile),
      typeof declaration === "number" ? { maxWorking: declaration } : declaration,
    );
  const nextCallApplies = async (count: number) => {
    expect(await apply({ maxWorking: count })).toEqual(APPLIED);
    expect((await settings()).maxWorking).toBe(count);
    expect(await apply({ maxWorking: count })).toEqual(NOTHING);
  };
  // Its requests: the read, the beginning, the settings, the end.
  test.each([3, 4])("before its request %i leaves the other's to be applied again", async (nth) => {
    let other: ApplyReport | undefined;
    const report = await overtaken(3, nth, async () => (other = await apply({ maxWorking: 4 })));
    expect(other?.applied).toEqual(["emails"]);
    expect(report).toEqual({ ...NOTHING, deferred: ["emails"] });
    await nextCallApplies(4);
  });

  test("and that fails leaves the other's to be applied again", async () => {
    const report = await overtaken(3, 4, async () => {
      await apply({ maxWorking: 4 });
      throw new Error("no route");
    });
    expect(report.failed).toMatchObject([{ message: "no route" }]);
    await nextCallApplies(4);
  });

  test("has no more to do if the other one has the same declaration", async () => {
    const report = await overtaken(3, 3, () => apply({ maxWorking: 3 }));
    expect(report).toEqual(APPLIED);
    expect((await settings()).maxWorking).toBe(3);
    expect(await apply({ maxWorking: 3 })).toEqual(NOTHING);
  });

  test("while the other one still applies: both give way, and the next call applies its own", async () => {
    let inner: Promise<ApplyReport> | undefined;
    let release = () => {};
    const held = new Promise<void>((resolve) => (release = resolve));
    const outer = await overtaken(5, 3, async () => {
      await new Promise<void>((begun) => {
        inner = overtaken(6, 4, () => {
          begun();
          return held;
        });
      });
    });
    release();
    expect([outer.deferred, (await inner)?.deferred]).toEqual([["emails"], ["emails"]]);
    await nextCallApplies(6);
  });

  test("and by a third one: no schedule of any of them stays", async () => {
    const of = (name: string): QueueDeclaration => ({ schedules: { [name]: hourly } });
    const report = await overtaken(of("one"), 4, async () => {
      await overtaken(of("two"), 4, async () => void (await apply(of("three"))));
    });
    expect(report.deferred).toEqual(["emails"]);
    expect((await apply(of("three"))).applied).toEqual(["emails"]);
    expect(await schedulesNow()).toEqual(["three"]);
  });
});
