import { describe, expect, test } from "vitest";
import { many } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";
import { alerting, MINUTE, openAlerts, operatorOf, queueOf } from "./rig.ts";

const rig = useRig();
const rules = [{ when: { pending: { above: 0 } } }];

describe("each condition fires once it holds, and is resolved once it does not", () => {
  test("new dead letters", async () => {
    const { pass, minutes, news, alerts } = alerting(rig, [{ when: { newDeadLetters: {} } }]);
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }]);
    await pass();
    expect(news()).toEqual([]);
    for (const task of await queue.dequeue({ max: 2 })) await task.reject("no");
    await minutes(1);
    expect(alerts).toEqual([
      {
        id: expect.stringMatching(/^alert_\w{16}$/),
        type: "alert.firing",
        rule: "newDeadLetters",
        queue: "emails",
        condition: "newDeadLetters",
        value: 2,
        threshold: 0,
        startedAt: rig.now,
        measuredAt: rig.now,
        reminder: false,
        text: "emails has 2 new dead letters",
      },
    ]);
    await minutes(4);
    expect(news()).toEqual(["fires emails", "resolved emails"]);
  });

  test("new dead letters above a limit, of the time between two passes, however long it was", async () => {
    const { pass, news } = alerting(rig, [{ when: { newDeadLetters: { above: 1, within: "1m" } } }]);
    const queue = rig.queue();
    await queue.enqueueMany([1, 2, 3].map((payload) => ({ payload })));
    await pass();
    const dieAndPass = async (count: number) => {
      rig.now += MINUTE;
      for (const task of await queue.dequeue({ max: count })) await task.reject("no");
      rig.now += 600 * MINUTE;
      await pass();
      return news();
    };
    expect([await dieAndPass(1), await dieAndPass(2)]).toEqual([[], ["fires emails"]]);
  });

  test("the age of the next task", async () => {
    const { minutes, news, alerts } = alerting(rig, [{ when: { oldestAge: { above: "5m" } } }]);
    const queue = rig.queue();
    await queue.enqueue(1);
    await minutes(5);
    expect(news()).toEqual([]);
    await minutes(1);
    const text = "The next task of emails was enqueued 6m ago; the limit is 5m";
    expect(alerts).toMatchObject([{ value: 6 * MINUTE, threshold: 5 * MINUTE, text }]);
    news();
    await (await queue.dequeue())[0]?.complete();
    await minutes(1);
    expect(alerts).toMatchObject([{ value: 0, text: "emails has no pending task" }]);
    expect(news()).toEqual(["resolved emails"]);
  });

  test("the number of pending tasks", async () => {
    const { minutes, news, alerts } = alerting(rig, [{ when: { pending: { above: 1_200 } } }]);
    const queue = rig.queue();
    await queue.enqueueMany(many(1_000));
    await minutes(1);
    await queue.enqueueMany(many(201));
    expect(news()).toEqual([]);
    await minutes(1);
    expect(alerts).toMatchObject([
      { value: 1_201, threshold: 1_200, text: "emails has 1,201 tasks pending; the limit is 1,200" },
    ]);
    expect(news()).toEqual(["fires emails"]);
    await queue.dequeue({ max: 1 });
    await minutes(1);
    expect(news()).toEqual(["resolved emails"]);
  });

  test("the share of failed attempts, of a queue that keeps statistics", async () => {
    const failing = [{ when: { failureRate: { above: 0.25, atLeast: 8 } } }];
    const { minutes, news, alerts, lines } = alerting(rig, failing);
    await rig.operator().configure({ statistics: true });
    const queue = rig.queue();
    await queue.enqueueMany(many(8, { maxAttempts: 2 }));
    const tasks = await queue.dequeue({ max: 8 });
    for (const task of tasks.slice(0, 5)) await task.complete();
    await tasks[5]?.requeue({ error: "again" });
    await tasks[6]?.reject("no");
    await minutes(1);
    // Seven attempts have ended.
    expect(news()).toEqual([]);
    await tasks[7]?.requeue({ error: "again" });
    await minutes(1);
    const text = "3 of 8 attempts in emails failed within 5m (37.5 %); the limit is 25 %";
    expect(alerts).toMatchObject([{ value: 0.375, threshold: 0.25, text }]);
    expect(news()).toEqual(["fires emails"]);
    await minutes(6);
    expect(news()).toEqual(["resolved emails"]);
    expect(lines.filter(({ failed }) => failed)).toEqual([]);
  });

  test("a rule that needs statistics is reported once of a queue that keeps none", async () => {
    const { minutes, news, lines } = alerting(rig, [{ when: { failureRate: { above: 0 } } }]);
    await rig.queue().enqueue(1);
    await minutes(3);
    expect(news()).toEqual([]);
    const failed = "the rule failureRate needs statistics, and the queue keeps none";
    expect(lines).toEqual([{ alert: "rules", queue: "emails", failed }]);
  });

  test("no consumer", async () => {
    const { minutes, news, alerts } = alerting(rig, [{ when: { noConsumer: { for: "3m" } } }]);
    const queue = rig.queue();
    await queue.enqueueMany([{ payload: 1 }, { payload: 2 }, { payload: 3 }]);
    await minutes(3);
    // A consumer is there: the time begins again.
    await (await queue.dequeue())[0]?.complete();
    await minutes(3);
    expect(news()).toEqual([]);
    await minutes(1);
    const text = "emails has 2 tasks pending, and no consumer has taken one for 3m";
    expect(alerts).toMatchObject([{ value: 3 * MINUTE, threshold: 3 * MINUTE, text }]);
    expect(news()).toEqual(["fires emails"]);
    // One that works on a long task is a consumer too.
    await queue.dequeue({ lease: "1h" });
    await minutes(11);
    expect(news()).toEqual(["resolved emails"]);
  });

  test("no consumer of a paused queue is no alert", async () => {
    const { minutes, news } = alerting(rig, [{ when: { noConsumer: {} } }]);
    await rig.queue().enqueue(1);
    await rig.operator().pause();
    await minutes(10);
    expect(news()).toEqual([]);
  });
});

describe("when a rule fires", () => {
  test("it waits until the condition has held for the time of `for`", async () => {
    const { minutes, news, alerts } = alerting(rig, [{ when: { pending: { above: 0 } }, for: "2m" }]);
    const queue = rig.queue();
    await queue.enqueue(1);
    await minutes(2);
    await (await queue.dequeue())[0]?.complete();
    await minutes(1);
    await queue.enqueue(2);
    await minutes(2);
    expect(news()).toEqual([]);
    await minutes(1);
    expect(alerts).toMatchObject([{ startedAt: rig.now - 2 * MINUTE }]);
    expect(news()).toEqual(["fires emails"]);
  });

  test("a rule that goes on firing is sent again after its window", async () => {
    const { minutes, news, alerts } = alerting(rig, [{ when: { pending: { above: 0 } }, window: "10m" }]);
    await rig.queue().enqueue(1);
    await minutes(10);
    expect(news()).toEqual(["fires emails"]);
    await minutes(1);
    const [reminder] = alerts;
    expect(reminder).toMatchObject({ startedAt: rig.now - 10 * MINUTE, reminder: true });
    expect(news()).toEqual(["still fires emails"]);
    await minutes(9);
    expect(news()).toEqual([]);
  });

  test("no alert is sent twice within the window, also if the rule was resolved in between", async () => {
    const { minutes, news } = alerting(rig, [{ when: { pending: { above: 0 } }, window: "10m" }]);
    const queue = rig.queue();
    await queue.enqueue(1);
    await minutes(1);
    await (await queue.dequeue())[0]?.complete();
    await minutes(1);
    expect(news()).toEqual(["fires emails", "resolved emails"]);
    await queue.enqueue(2);
    await minutes(2);
    await (await queue.dequeue())[0]?.complete();
    await minutes(1);
    // Neither that alert nor its recovery.
    expect(news()).toEqual([]);
    await queue.enqueue(3);
    await minutes(5);
    expect(news()).toEqual([]);
    await minutes(1);
    expect(news()).toEqual(["fires emails"]);
  });

  test("each queue and each rule fires for itself", async () => {
    const { minutes, alerts } = alerting(rig, [
      { queues: "mail-*", when: { pending: { above: 0 } } },
      { name: "many", queues: "mail-a", when: { pending: { above: 1 } } },
      { queues: "other", when: { pending: { above: 5 } } },
    ]);
    for (const name of ["mail-a", "mail-b", "other"]) {
      await queueOf(rig, name).enqueueMany([{ payload: 1 }, { payload: 2 }]);
    }
    await minutes(1);
    expect(alerts.map(({ rule, queue }) => `${queue}: ${rule}`).toSorted()).toEqual([
      "mail-a: many",
      "mail-a: pending of mail-*",
      "mail-b: pending of mail-*",
    ]);
  });

  test("the log has a line for each alert, also without receivers", async () => {
    const { minutes, lines } = alerting(rig, rules, { send: [] });
    const queue = rig.queue();
    await queue.enqueue(1);
    await minutes(2);
    await queue.dequeue();
    await minutes(1);
    const line = (state: string, count: string) => {
      const text = `emails has ${count} pending; the limit is 0`;
      return { alert: "pending", queue: "emails", state, text };
    };
    expect(lines).toEqual([line("firing", "1 task"), line("resolved", "no tasks")]);
  });
});

describe("what is left behind", () => {
  test("nothing of a queue whose alerts are over, nor of a deleted one, which is resolved", async () => {
    const { minutes, news } = alerting(rig, [{ ...rules[0]!, window: "5m" }]);
    for (const name of ["done", "old"]) await queueOf(rig, name).enqueue(1);
    await minutes(1);
    expect(Object.keys(await openAlerts(rig)).toSorted()).toEqual(["done", "old"]);
    await (await queueOf(rig, "done").dequeue())[0]?.complete();
    await operatorOf(rig, "old").deleteQueue({ force: true });
    await minutes(1);
    expect(news().toSorted()).toEqual(["fires done", "fires old", "resolved done", "resolved old"]);
    await minutes(5);
    expect(await openAlerts(rig)).toEqual({});
  });

  test("rules of another deployment stay, and those that no deployment has are removed in time", async () => {
    const [one, other] = [
      alerting(rig, [{ name: "one", when: { pending: { above: 0 } } }]),
      alerting(rig, [{ name: "other", when: { pending: { above: 0 } } }]),
    ];
    await rig.queue().enqueue(1);
    await one.minutes(1);
    await other.pass();
    await one.minutes(1);
    expect(one.news()).toEqual(["fires emails"]);
    expect(other.news()).toEqual(["fires emails"]);
    expect(Object.values(await openAlerts(rig))[0]).toContain('"other"');
    rig.now += 26 * 60 * MINUTE;
    await one.pass();
    expect(Object.values(await openAlerts(rig))[0]).not.toContain('"other"');
    rig.now += 8 * 24 * 60 * MINUTE;
    await one.pass();
    expect(await rig.command("HLEN", "sluice:alerts")).toBe(2);
  });

  test("an alert of a queue that can no longer be measured is forgotten in time, and not resolved", async () => {
    const { minutes, news } = alerting(rig, [{ when: { failureRate: { above: 0, atLeast: 1 } } }]);
    await rig.operator().configure({ statistics: true });
    await rig.queue().enqueue(1);
    await (await rig.queue().dequeue())[0]?.requeue({ error: "again" });
    await minutes(1);
    expect(news()).toEqual(["fires emails"]);
    await rig.operator().configure({ statistics: false });
    await minutes(10);
    expect(Object.keys(await openAlerts(rig))).toEqual(["emails"]);
    rig.now += 26 * 60 * MINUTE;
    await minutes(1);
    expect([news(), await openAlerts(rig)]).toEqual([[], {}]);
  });

  test("a record of a newer release stays as it is, and the log says so", async () => {
    await rig.command("HSET", "sluice:alerts", "emails", "2;new");
    const { minutes, news, lines } = alerting(rig, rules);
    await rig.queue().enqueue(1);
    await minutes(2);
    expect(news()).toEqual([]);
    expect(await openAlerts(rig)).toEqual({ emails: "2;new" });
    const failed = "a newer release of Sluice wrote the record of its alerts";
    expect(lines).toEqual([{ alert: "rules", queue: "emails", failed }]);
  });

  test.each(["1;{", "nonsense", '1;{"pending":7}', '1;{"pending":{"p":{"i":1}}}', "1;null"])(
    "the unreadable record %s counts as none",
    async (record) => {
      await rig.command("HSET", "sluice:alerts", "emails", record);
      const { minutes, news } = alerting(rig, rules);
      await rig.queue().enqueue(1);
      await minutes(1);
      expect(news()).toEqual(["fires emails"]);
    },
  );
});
