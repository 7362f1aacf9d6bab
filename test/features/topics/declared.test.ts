import { expect, test } from "vitest";
import { sluice } from "../../../serverless/cloudflare.ts";
import { sluice as onDemand } from "../../../serverless/netlify.ts";
import { defineTopic, topics as part } from "../../../src/http/topics/index.ts";
import { defineQueue, type DefinedQueue } from "../../../src/index.ts";
import { opening } from "../../../src/open/opening.ts";
import { applySubscriptions } from "../../../src/open/topics/apply.ts";
import type { Subscribes } from "../../../src/open/topics/definition.ts";
import { refOf } from "../../../src/open/topics/topics.ts";
import { testDeployment } from "../../../src/testing/index.ts";
import { encrypting } from "../../support/encrypting.ts";
import { useTopicRig } from "./topic-rig.ts";

const { rig, instance, topics, queue, take } = useTopicRig();
const plain = defineTopic<number>("orders");
const orders = defineTopic<number>("orders", { retain: { for: "2h" }, encryption: encrypting() });

const subscribing = (...subscribes: readonly Subscribes[]) => defineQueue("billing", { subscribes });

/** Applies the declarations of a deployment, in an instance of its own. */
function apply(queues: readonly DefinedQueue[], { transport } = instance()) {
  const definitionOf = (name: string) => queues.find((one) => one.name === name) as never;
  const open = opening({ transport, now: () => rig.now, definitionOf });
  return applySubscriptions({ open, ref: refOf(open) }, queues, undefined);
}

const pairs = async () =>
  (await topics().subscriptions()).map(({ queue: name, topic, by, filter }) => [name, topic, by, ...filter]);

test("an operator without the declaration keeps what its subscriptions say of the queue's tasks", async () => {
  const encryption = encrypting();
  await apply([defineQueue("billing", { subscribes: plain, lease: "9m", encryption })]);
  await topics().subscribe("billing", "orders", { filter: { header: "region", exists: true } });
  await topics().subscribe("billing", "payments.#");
  await topics().subscribe("mail", "orders");
  const noted = (await topics().subscriptions()).map(({ queue: name, topic, by, defaults, isSealed }) => {
    return [name, topic, by, defaults.lease, isSealed];
  });
  expect(noted).toEqual([
    ["billing", "orders", "operator", "9m", true],
    ["billing", "payments.#", "operator", "9m", true],
    ["mail", "orders", "operator", undefined, false],
  ]);
});

test("a deployment notes that a queue is encrypted in what operators have subscribed, and leaves the rest as it is", async () => {
  const filter = { header: "region", in: ["eu"] };
  await topics().subscribe("billing", "orders", { filter });
  await topics().subscribe("mail", "orders");
  const before = await pairs();
  await topics()
    .topic("orders")
    .publish(1, { headers: { region: "eu" } });
  const vault = defineQueue("billing", { encryption: encrypting() });
  const other = instance();
  expect(await apply([vault], other)).toEqual([]);
  expect(await pairs()).toEqual(before);
  const published = topics()
    .topic("orders")
    .publish(2, { headers: { region: "eu" } });
  await expect(published).rejects.toMatchObject({
    published: [{ copies: [{ queue: "mail" }], failed: [{ queue: "billing", code: "undecryptable" }] }],
  });
  // It is noted once.
  other.names();
  await apply([vault], other);
  expect(other.names().flat()).not.toContain("putSubscriptions");
});

test("a deployment adds, changes and removes the subscriptions that it declares, and no others", async () => {
  await topics().subscribe("billing", "payments");
  await topics().subscribe("mail", "orders");
  const filter = { header: "region", in: ["eu"] };
  expect(await apply([subscribing(plain, ["orders.*", { filter }], "payments")])).toEqual([
    { queue: "billing", subscribed: ["orders", "orders.*", "payments"], unsubscribed: [] },
  ]);
  expect(await pairs()).toEqual([
    ["billing", "orders", "deployment"],
    ["billing", "orders.*", "deployment", filter],
    ["billing", "payments", "operator"],
    ["mail", "orders", "operator"],
  ]);
  // The same declaration again takes one command, in any instance.
  const second = instance();
  expect(await apply([subscribing(plain, ["orders.*", { filter }], "payments")], second)).toEqual([]);
  expect(second.names()).toEqual([["HMGET"]]);
  // What an operator has removed or replaced since then stays so.
  await topics().unsubscribe("billing", "orders");
  await topics().subscribe("billing", "orders.*");
  expect(await apply([subscribing(plain, ["orders.*", { filter }], "payments")])).toEqual([]);
  expect(await apply([subscribing(["orders.*", { filter }], "refunds")])).toEqual([
    { queue: "billing", subscribed: ["orders.*", "refunds"], unsubscribed: ["orders", "payments"] },
  ]);
  expect(await pairs()).toEqual([
    ["billing", "orders.*", "operator"],
    ["billing", "payments", "operator"],
    ["billing", "refunds", "deployment"],
    ["mail", "orders", "operator"],
  ]);
  // A queue that declares none any more has those of operators.
  expect(await apply([defineQueue("billing"), defineQueue("mail")])).toMatchObject([
    { unsubscribed: ["orders.*", "refunds"] },
  ]);
  expect(await pairs()).toEqual([
    ["billing", "orders.*", "operator"],
    ["billing", "payments", "operator"],
    ["mail", "orders", "operator"],
  ]);
});

test("of two deployments that apply at once, one does", async () => {
  const both = await Promise.all([apply([subscribing("a")]), apply([subscribing("b")])]);
  expect(both.flat()).toHaveLength(1);
  const [[, topic] = []] = await pairs();
  expect(both.flat()[0]?.subscribed).toEqual([topic]);
});

test("a new subscription gets what its topic has retained; a changed one does not", async () => {
  await topics().topic(orders).publish(1, { id: "a" });
  rig.now += 3_600_000;
  await topics().topic(orders).publish(2, { id: "b" });
  const declared = (since: "30m" | "3h") => subscribing([orders, { since }]);
  await apply([declared("30m")]);
  expect(await take("billing")).toEqual(["b"]);
  await apply([declared("3h")]);
  expect(await take("billing")).toEqual([]);
});

test("a deployment continues a replay that has died, also of a queue whose payloads are encrypted", async () => {
  const numbers = Array.from({ length: 150 }, (_, i) => ({ payload: i, id: `m${i}` }));
  await topics().topic(orders).publishMany(numbers);
  const billing = defineQueue("billing", { subscribes: [orders, { since: "1h" }], encryption: encrypting() });
  let pages = 0;
  const dies = instance((names) => {
    if (names.includes("readTopic") && ++pages === 2) throw new Error("died");
  });
  await expect(apply([billing], dies)).rejects.toThrow("died");
  expect(await queue("billing").counts()).toMatchObject({ pending: 100 });
  rig.now += 61_000;
  expect(await apply([billing])).toEqual([]);
  expect(await queue("billing").counts()).toMatchObject({ pending: 150 });
});

test("a deployment notes what the topics of its queues retain", async () => {
  const again = instance();
  await apply([subscribing("orders")], again);
  await again.topics().topic("orders").preview();
  for (let i = 0; i < 2; i++) await apply([subscribing(orders)], again);
  expect(again.names().at(-1)).toEqual(["HSET"]);
  expect(await rig.command("HGET", "sluice:topics", "/orders")).toBe(`1;7200000;10000000;${rig.now};s`);
  // It goes by that itself, without reading it again.
  await expect(again.topics().topic("orders").publish(1)).rejects.toMatchObject({ code: "undecryptable" });
});

test.each([
  ["the queue declares", ["orders.#", orders]],
  ["an operator has made", undefined],
])("a deployment with the key continues a replay of subscriptions that %s", async (_, subscribes) => {
  const numbers = Array.from({ length: 150 }, (_, i) => ({ payload: i, id: `m${i}` }));
  await topics().topic(orders).publishMany(numbers);
  const billing = defineQueue("billing", { subscribes, encryption: encrypting() });
  const declared = [billing, defineQueue("mail", { subscribes: orders })];
  await apply(declared);
  await topics().subscribe("billing", orders);
  let pages = 0;
  const dies = instance((names) => {
    if (names.includes("readTopic") && ++pages === 2) throw new Error("died");
  });
  const replayed = dies.topics({ definitionOf: () => billing }).replay("billing", orders, { since: "1h" });
  await expect(replayed).rejects.toThrow("died");
  rig.now += 61_000;
  await apply(declared);
  expect(await queue("billing").counts()).toMatchObject({ pending: 150 });
});

test("declarations are checked when the deployment is made", () => {
  const deploy = (subscribes: unknown, topicsOf: object = { topics: part }) =>
    sluice({ ...topicsOf, queues: [defineQueue("billing", { subscribes: subscribes as Subscribes })] });
  expect(() => deploy("orders.*x")).toThrow("billing.subscribes must be words");
  expect(() => deploy(["orders", "orders"])).toThrow("billing.subscribes must not name orders twice");
  expect(() => deploy(["orders", { fliter: 1 }])).toThrow("fliter");
  expect(() => deploy([["a", { filter: { header: "x" } }]])).toThrow(
    "billing.subscribes[0].filter.header must be given with",
  );
  expect(() => deploy([["a", { filter: { header: "x", in: [] } }]])).toThrow("filter.in must be");
  expect(() => deploy([["a", { since: "soon" }]])).toThrow("billing.subscribes[0].since");
  expect(() => deploy("orders", {})).toThrow("must not have subscribes without the option topics");
  expect(() => deploy(["orders", ["orders.#", { since: "1h" }]])).not.toThrow();
});

test("a deployment applies what its queues declare, and gives topics to its handlers", async () => {
  const done: string[] = [];
  const billing = defineQueue<number>("billing", { subscribes: orders });
  const mail = defineQueue<number>("mail", { subscribes: "order*".replace("*", "s.#") as Subscribes });
  const shop = defineQueue<number>("shop");
  for (const make of [sluice, onDemand]) {
    done.length = 0;
    const deployed = testDeployment(
      make({
        ...(make === sluice ? { topics: part } : {}),
        consumers: [
          shop.consumer(({ payload }, _, { topic }) => topic(orders).publish(payload, { id: "one" })),
          billing.consumer(({ id, payload }) => void done.push(`billing ${id} ${payload}`)),
          mail.consumer(({ id, payload }) => void done.push(`mail ${id} ${payload}`)),
        ],
        fetch: async (_, { queue: open }) => Response.json(await open(shop).enqueue(7)),
      }),
    );
    await deployed.fetch("/buy");
    await deployed.run();
    expect(done.toSorted()).toEqual(["billing one 7", "mail one 7"]);
  }
});

test("a deployment without the part says how to turn it on", async () => {
  const app = sluice({
    topics: false,
    fetch: async (_, { topic }) => {
      try {
        return Response.json(await topic("orders").publish(1));
      } catch (error) {
        return new Response((error as Error).message);
      }
    },
  });
  const answer = await testDeployment(app).fetch("/");
  expect(await answer.text()).toContain('import { topics } from "sluice-queue/topics"');
});
