import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { defineAlerts, type AlertRule } from "../../../src/features/alerts/index.ts";
import { Operator, Queue } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";

// What a pass of the alert rules costs: the figures of docs/costs.md.

const billed = useBilled();
let queue: Queue;
beforeEach(() => {
  ({ queue } = billed);
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => errors.mockRestore());
});

const manyDead: AlertRule = { when: { newDeadLetters: { above: 5 } } };
const others: readonly AlertRule[] = [
  { when: { oldestAge: { above: "5m" } } },
  { when: { pending: { above: 10_000 } } },
  { when: { noConsumer: {} } },
];

const connect = (rules: readonly AlertRule[]) => {
  const { transport } = billed;
  const { evaluate } = defineAlerts({ rules, send: [() => {}] }).connect({});
  return () => evaluate({ transport, prefix: undefined, budget: 20_000, log: () => {} });
};

/** The cost of a pass, as a minute after the one before. */
async function costOf(pass: () => Promise<void>) {
  const fields = (await billed.client.hkeys("sluice:alerts")) ?? [];
  await billed.client.hdel("sluice:alerts", "~", ...fields.filter((field) => field.startsWith("~pass")));
  return billed.cost(pass);
}

// To begin 5, and 1 for the open alerts.
const BEGIN = 5 + 1;
const LIST = 3;
const IDLE = 2;

describe("a pass costs", () => {
  test("6 commands, 3 for the list of queues, and 2 for an idle queue; 3 if another one began within 50 seconds", async () => {
    const pass = connect([manyDead, ...others]);
    await pass();
    expect(await billed.cost(pass)).toBe(3);
    expect(await costOf(pass)).toBe(BEGIN + LIST + IDLE);
    expect(billed.gateway.usage().requests).toBe(4);
  });

  test("no list for rules that name their queues, and 1 for an idle queue if no rule is on dead letters", async () => {
    const pass = connect(others.map((rule) => ({ ...rule, queues: queue.name })));
    await pass();
    expect(await costOf(pass)).toBe(BEGIN + 1);
  });

  test("7 commands for an idle queue whose findings a rule watches, 25 with pending tasks, and 6 for the database", async () => {
    const pass = connect([{ when: { finding: { code: "nothing_taken" } } }]);
    await pass();
    expect(await costOf(pass)).toBe(BEGIN + LIST + 7);
    await queue.enqueue(1);
    expect(await costOf(pass)).toBe(BEGIN + LIST + 25);
    const ofDatabase = connect([{ when: { finding: { code: "database_nearly_full" } } }]);
    await ofDatabase();
    expect(await costOf(ofDatabase)).toBe(BEGIN + 6);
  });

  test("11 commands more for a queue with pending tasks, and 3 for a rule on failures", async () => {
    const pass = connect(others);
    await queue.enqueue(1);
    await pass();
    expect(await costOf(pass)).toBe(BEGIN + LIST + 1 + 11);
    const failures = connect([{ when: { failureRate: { above: 0.5 } } }]);
    await failures();
    expect(await costOf(failures)).toBe(BEGIN + LIST + 3);
  });

  test("6 commands for the alerts that it sends, one or forty", async () => {
    const { transport } = billed;
    const one = connect([{ queues: queue.name, when: { pending: { above: 0 } } }]);
    await queue.enqueue(1);
    // A rule for a queue by its name does not read the registry, so 1 more reads which partitions the queue has.
    expect(await costOf(one)).toBe(BEGIN + 1 + 1 + 11 + 6);
    const names = Array.from({ length: 40 }, (_, i) => `queue-${i}`);
    await Promise.all(names.map((name) => new Queue(name, { transport }).enqueue(1)));
    const forty = connect([{ queues: "queue-*", when: { pending: { above: 0 } } }]);
    expect(await costOf(forty)).toBe(BEGIN + LIST + 40 * (1 + 11) + 6);
  });

  test("2 commands for each of 1,000 idle queues, and the rest stays the same, in at most 30 requests", async () => {
    const names = Array.from({ length: 1_100 }, (_, i) => ({ score: Date.now(), member: `queue-${i}` }));
    const [first = { score: 0, member: "" }, ...rest] = names;
    await billed.client.zadd("sluice:queues", first, ...rest);
    const pass = connect([manyDead, ...others]);
    await pass();
    const cost = await costOf(pass);
    // Redis returns about as many of the registry as it is asked for. One more read, and one write of the place.
    expect(cost).toBeGreaterThan(2 * 900);
    expect(cost).toBeLessThanOrEqual(BEGIN + LIST + 1 + 3 + 2 * 1_101);
    expect(billed.gateway.usage().requests).toBeLessThanOrEqual(30);
  });

  // The last one, because the instance remembers that there are partitions.
  test("as much for each partition of a queue, and 1 more for each of the two requests", async () => {
    const { transport } = billed;
    await new Operator("spread", { transport }).resize(4);
    const pass = connect([manyDead, { when: { pending: { above: 10_000 } } }]);
    await pass();
    expect(await costOf(pass)).toBe(BEGIN + LIST + IDLE + 4 * IDLE + 1);
    await new Queue("spread", { transport }).enqueue(1);
    expect(await costOf(pass)).toBe(BEGIN + LIST + IDLE + 4 * IDLE + 1 + (11 + 3 * 4) + 1);
  });
});
