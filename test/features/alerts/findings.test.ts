import { expect, test } from "vitest";
import { Schedules } from "../../../src/index.ts";
import { databaseCodes, queueCodes } from "../../../src/operate/health/codes.ts";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";
import { alerting, MINUTE, queueOf } from "./rig.ts";

const rig = useRig();
const now = () => rig.now;

test("a rule on a finding fires for each queue that has it, and is resolved", async () => {
  const { pass, minutes, news, alerts } = alerting(rig, [{ when: { finding: { code: "nothing_ends" } } }]);
  await queueOf(rig, "reports").enqueue(1);
  await rig.queue().enqueue(1);
  const [task] = await rig.queue().dequeue();
  for (let i = 0; i < 10; i++) {
    await minutes(1);
    await task!.extend(5 * MINUTE);
  }
  expect(news()).toEqual([]);
  await minutes(1);
  expect(news()).toEqual([]);
  await task!.extend(5 * MINUTE);
  await minutes(1);
  expect(alerts).toEqual([
    {
      id: expect.stringMatching(/^alert_\w{16}$/),
      type: "alert.firing",
      rule: "nothing_ends",
      queue: "emails",
      condition: "finding",
      value: 1,
      threshold: 0,
      startedAt: rig.now - MINUTE,
      measuredAt: rig.now,
      reminder: false,
      text: "emails: 1 working, the longest for 12m, and nothing was taken for 12m",
    },
  ]);
  await task!.complete();
  alerts.length = 0;
  await pass();
  rig.now += MINUTE;
  await pass();
  expect(alerts).toMatchObject([
    { type: "alert.resolved", queue: "emails", value: 0, text: "emails: nothing_ends is over" },
  ]);
});

test("a rule on all findings fires for problems, and for warnings if asked", async () => {
  const rules = [
    { when: { finding: { after: "5m" } } },
    { queues: "emails", when: { finding: { status: "warning" } } },
    { when: { finding: { code: ["schedule_paused", "paused"] } } },
  ] as const;
  const { pass, minutes, alerts } = alerting(rig, rules);
  const schedules = new Schedules("emails", { transport: rig.transport, now });
  await schedules.put("daily", { every: "24h", payload: 1, paused: true });
  await queueOf(rig, "reports").enqueue(1);
  rig.now += 5 * MINUTE;
  await pass();
  await minutes(2);
  const ofQueues = alerts.filter(({ queue }) => queue !== "");
  const textOf = Object.fromEntries(ofQueues.map(({ rule, text }) => [rule, text]));
  expect(textOf).toEqual({
    problem: "reports: 1 pending, the next enqueued 7m ago, and no consumer works",
    "schedule_paused, paused": "emails: schedule daily has been paused for 6m",
    "warning of emails": "emails: schedule daily has been paused for 6m",
  });
  expect(ofQueues).toHaveLength(3);
});

test("rules on the database fire once, for no queue, and read none", async () => {
  const rules = [
    { for: 0, when: { finding: { code: ["clock_off", "database_nearly_full"] } } },
    { for: 0, name: "any", queues: "*", when: { finding: { code: "clock_off" } } },
  ] as const;
  const { pass, alerts, lines } = alerting(rig, rules, {
    dashboardUrl: "https://queue.example.com/dashboard",
  });
  await rig.queue().enqueue(1);
  rig.now = Date.now() - 60_000;
  await pass();
  const text = expect.stringMatching(/^clock: the deployment is (59|1m)\S*( \ds)? ahead of Redis$/);
  const url = "https://queue.example.com/dashboard";
  expect(alerts).toMatchObject([
    { rule: "clock_off, database_nearly_full", queue: "", type: "alert.firing", text, url },
    { rule: "any", queue: "", type: "alert.firing", text, url },
  ]);
  expect(lines).toMatchObject([{ queue: "" }, { queue: "" }]);
  alerts.length = 0;
  await rig.command("HDEL", "sluice:alerts", ...passes(await rig.command("HKEYS", "sluice:alerts")));
  rig.now = Date.now();
  await pass();
  expect(alerts.map(({ type, rule }) => [type, rule])).toEqual([
    ["alert.resolved", "clock_off, database_nearly_full"],
    ["alert.resolved", "any"],
  ]);
});

const passes = (fields: unknown) => (fields as string[]).filter((field) => field.startsWith("~pass:"));

test("each code can be a rule of its own", async () => {
  const rules = [...queueCodes, ...databaseCodes].map((code) => ({ when: { finding: { code } } }) as const);
  const { pass, minutes, alerts } = alerting(rig, rules);
  await rig.operator().pause();
  await rig.queue().enqueue(1);
  await queueOf(rig, "reports").enqueue(1);
  rig.now += 11 * MINUTE;
  await pass();
  await minutes(1);
  const ofQueues = alerts.filter(({ queue }) => queue !== "");
  expect(Object.fromEntries(ofQueues.map(({ rule, queue }) => [rule, queue]))).toEqual({
    no_consumer: "reports",
    paused: "emails",
  });
});

test("a rule on all findings is not resolved while any of them is left", async () => {
  const { minutes, news } = alerting(rig, [{ when: { finding: {} }, queues: "emails" }]);
  const queue = rig.queue();
  await queue.enqueueMany(many(13));
  const tasks = await queue.dequeue({ max: 12, lease: "1h" });
  rig.now += 9 * MINUTE;
  for (const task of tasks) await task.reject();
  await minutes(3);
  expect(news()).toEqual(["fires emails"]);
  // Then a consumer takes tasks again. The dead letters are still new.
  const [task] = await queue.dequeue();
  await task!.complete();
  await minutes(6);
  expect(news()).toEqual([]);
  await minutes(2);
  expect(news()).toEqual(["resolved emails"]);
});

test("a retry that becomes pending long after its enqueue is no sign that no consumer takes tasks", async () => {
  const { minutes, news } = alerting(rig, [
    { when: { finding: { code: ["no_consumer", "nothing_taken"] } } },
  ]);
  const queue = rig.queue();
  await queue.enqueue(1);
  await minutes(11);
  for (let i = 0; i < 5; i++) {
    const [task] = await queue.dequeue();
    await task!.requeue();
    await minutes(1);
  }
  expect(news()).toEqual([]);
  await minutes(1);
  expect(news()).toEqual(["fires emails"]);
});
