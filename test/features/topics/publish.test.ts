import { describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { defineQueue, Operator, SluiceError } from "../../../src/index.ts";
import { defineTopic, PublishError } from "../../../src/http/topics/index.ts";
import { opening } from "../../../src/open/opening.ts";
import { encrypting } from "../../support/encrypting.ts";
import { partitionSpaces, unregistered } from "../../support/partition-spaces.ts";
import { useTopicRig } from "./topic-rig.ts";

const { rig, instance, topics, queue, take } = useTopicRig();
const all = ["billing", "mail", "search"];
const copies = (names: readonly string[], created = true) => names.map((name) => ({ queue: name, created }));

async function subscribe(topic = "orders", names: readonly string[] = all) {
  for (const name of names) await topics().subscribe(name, topic);
}

describe("a message", () => {
  test("reaches each queue that has subscribed to its topic, in one request", async () => {
    await subscribe();
    await subscribe("payments", ["other"]);
    const publisher = instance();
    const orders = publisher.topics().topic("orders");
    // The first call reads the list of subscriptions, and notes the queues in the registry.
    expect(await orders.publish({ order: 1 }, { id: "order-1" })).toEqual({
      id: "order-1",
      copies: copies(all),
      failed: [],
      reread: false,
    });
    expect(publisher.names()).toEqual([
      ["HGETALL", "TIME"],
      ["register", "HGET", "enqueue", "enqueue", "enqueue"],
    ]);
    const { id } = await orders.publish({ order: 2 }, { headers: { region: "eu" }, priority: 3 });
    expect(publisher.names()).toEqual([["HGET", "enqueue", "enqueue", "enqueue"]]);
    for (const name of all) {
      const [first, second] = (await queue(name).dequeue({ max: 2 })).toSorted((one) =>
        one.id === id ? -1 : 1,
      );
      expect(first).toMatchObject({ id, payload: { order: 2 }, headers: { region: "eu" } });
      expect(second).toMatchObject({ id: "order-1", payload: { order: 1 } });
      // Each copy has a life of its own.
      await second?.complete(name);
      expect(await queue(name).get("order-1")).toMatchObject({ state: "completed", result: name });
    }
    expect(await take("other")).toEqual([]);
  });

  test("is gone if no queue has subscribed", async () => {
    expect(await topics().topic("orders").publish(1, { id: "a" })).toMatchObject({ copies: [], failed: [] });
  });

  test("is one copy in a queue that has subscribed by several patterns, if a filter lets it", async () => {
    const region = (value: string) => ({ filter: { header: "region", in: [value] } });
    await topics().subscribe("billing", "orders.*", region("eu"));
    await topics().subscribe("billing", "orders.#");
    await topics().subscribe("mail", "orders.*", region("us"));
    const publish = (topic: string, headers?: Record<string, string>) =>
      topics()
        .topic(topic)
        .publish(1, { id: `${topic}-${headers?.["region"]}`, headers });
    await publish("orders", { region: "us" });
    await publish("orders.paid", { region: "eu" });
    await publish("orders.paid", { region: "us" });
    await publish("orders.paid.late", { region: "us" });
    expect((await take("billing")).toSorted()).toEqual([
      "orders-us",
      "orders.paid-eu",
      "orders.paid-us",
      "orders.paid.late-us",
    ]);
    expect(await take("mail")).toEqual(["orders.paid-us"]);
    expect(
      await topics()
        .topic("orders.paid")
        .preview({ headers: { region: "eu" } }),
    ).toEqual({
      queues: ["billing"],
      filtered: ["mail"],
    });
  });

  test("may be one of many, each with its own options", async () => {
    await topics().subscribe("billing", "orders");
    await topics().subscribe("mail", "orders", { filter: { header: "mail", exists: true } });
    const publisher = instance();
    const orders = publisher.topics().topic("orders");
    const messages = [
      { payload: 1, headers: { mail: "1" } },
      { payload: 2, delay: "1m" } as const,
      { payload: 3, id: "three" },
    ];
    const published = await orders.publishMany(messages, { idempotencyKey: "k" });
    expect(published.map((one) => one.copies.map((copy) => copy.queue))).toEqual([
      ["billing", "mail"],
      ["billing"],
      ["billing"],
    ]);
    expect(publisher.names().at(-1)).toEqual(["register", "HGET", "enqueue", "enqueue"]);
    const again = await instance().topics().topic("orders").publishMany(messages, { idempotencyKey: "k" });
    expect(again).toEqual(published);
    expect(await queue("billing").counts()).toMatchObject({ pending: 2, delayed: 1 });
    expect(await orders.publishMany([])).toEqual([]);
  });

  test("may be one of many large ones, which go in several requests", async () => {
    await topics().subscribe("billing", "orders");
    const orders = defineTopic<string>("orders", { retain: { for: "1h" } });
    const payload = "x".repeat(900_000);
    const messages = [0, 1, 2].map((i) => ({ id: `m${i}`, payload, group: `g${i}` }));
    const publisher = instance();
    const published = await publisher.topics().topic(orders).publishMany(messages);
    expect(published.map(({ id, copies: [copy] }) => [id, copy?.created])).toEqual(
      messages.map(({ id }) => [id, true]),
    );
    expect(publisher.requests.length).toBe(1 + 2);
    expect(await queue("billing").counts()).toMatchObject({ pending: 3 });
    expect(await rig.command("ZCARD", "sluice:topic:{orders}")).toBe(3);
    // A full queue gets what it can; what became of each message is known.
    await topics().subscribe("mail", "orders");
    await new Operator("mail", { transport: rig.transport }).configure({ maxPending: 1 });
    const error = await topics()
      .topic(orders)
      .publishMany(messages)
      .catch((thrown: unknown) => thrown);
    const { code, published: all } = error as PublishError;
    expect([code, all.map(({ failed }) => failed.length)]).toEqual(["queue_full", [1, 1, 0]]);
  });

  test("is refused before any queue gets it, if all would refuse it", async () => {
    await subscribe();
    const publisher = instance();
    const orders = publisher.topics().topic("orders");
    const refused = (call: Promise<unknown>, path: string) =>
      expect(call).rejects.toMatchObject({ code: "invalid_argument", path });
    await refused(orders.publish(1, { priority: 12 }), "priority");
    await refused(orders.publish(1, { id: "" }), "id");
    await refused(orders.publish(undefined), "payload");
    await refused(orders.publish(1, { group: "g", topic: "x" } as never), "topic");
    await refused(orders.publishMany([{ payload: 1 }, { payload: 1, delay: -1 }]), "messages[1].delay");
    expect(publisher.requests).toEqual([]);
    expect(() => topics().topic("orders.*")).toThrow("topic must be words");
  });
});

describe("a publish that did not reach each queue", () => {
  test("says which, and the next one with the id completes it", async () => {
    await subscribe();
    await new Operator("mail", { transport: rig.transport }).configure({ maxPending: 1 });
    await queue("mail").enqueue("full");
    const orders = topics().topic("orders");
    const error = await orders
      .publish(1, { idempotencyKey: "k" })
      .catch((thrown: unknown) => thrown as PublishError);
    expect(error).toBeInstanceOf(PublishError);
    expect(error).toMatchObject({ code: "queue_full" });
    const [first] = (error as PublishError).published;
    expect(first).toMatchObject({
      copies: copies(["billing", "search"]),
      failed: [{ queue: "mail", code: "queue_full" }],
    });
    await take("mail");
    expect(await orders.publish(1, { idempotencyKey: "k" })).toEqual({
      id: first?.id,
      copies: copies(["billing", "mail", "search"]),
      failed: [],
      reread: false,
    });
  });

  test("is completed by the key also if subscriptions have changed, but not with another message", async () => {
    const eu = { filter: { header: "region", in: ["eu"] } };
    await topics().subscribe("billing", "orders", eu);
    const orders = topics().topic("orders");
    const messages = [{ payload: 1 }, { payload: 2, headers: { region: "eu" } }];
    const options = { idempotencyKey: "k" };
    await orders.publishMany(messages, options);
    await topics().subscribe("billing", "orders");
    const again = await orders.publishMany(messages, options);
    expect(again.map((one) => one.copies.map(({ created }) => created))).toEqual([[true], [false]]);
    const other = orders.publishMany([{ payload: 1 }, { payload: 3 }], options);
    await expect(other).rejects.toMatchObject({ code: "idempotency_key_reused" });
    expect(await queue("billing").counts()).toMatchObject({ pending: 2 });
  });

  test("is completed by a copy, if its request was cut off half way", async () => {
    await subscribe();
    // What Redis has got of the first copy of the request.
    const half = instance();
    const original = half.transport.send;
    const cut = {
      ...half.transport,
      send: async (...[commands, options]: Parameters<typeof original>) => {
        const got = commands.some((one) => "script" in one) ? commands.slice(0, -1) : commands;
        const outcomes = await original(got, options);
        if (got.length < commands.length) throw new SluiceError("redis_unreachable", "cut off");
        return outcomes;
      },
    };
    const failed = topics({ transport: cut }).topic("orders").publish(1, { id: "a" });
    await expect(failed).rejects.toMatchObject({ code: "redis_unreachable" });
    const { copies: found } = await topics().topic("orders").publish(1, { id: "a" });
    expect(found).toEqual([...copies(["billing", "mail"], false), ...copies(["search"])]);
    for (const name of all) expect(await take(name)).toEqual(["a"]);
  });

  test("with an old list is completed at once, and says so", async () => {
    await subscribe("orders", ["billing", "mail"]);
    const publisher = instance();
    const orders = publisher.topics().topic("orders");
    await orders.publish(1, { id: "a" });
    await subscribe("orders.#", ["search"]);
    await topics().unsubscribe("mail", "orders");
    publisher.names();
    expect(await orders.publish(2, { id: "b" })).toEqual({
      id: "b",
      copies: copies(all),
      failed: [],
      reread: true,
    });
    expect(publisher.names()).toEqual([
      ["HGET", "enqueue", "enqueue"],
      ["HGETALL", "TIME"],
      ["register", "HGET", "enqueue"],
    ]);
    // The next one has the new list.
    expect(await orders.publish(3, { id: "c" })).toMatchObject({
      copies: copies(["billing", "search"]),
      reread: false,
    });
    expect(await take("search")).toEqual(["b", "c"]);
    // A lost database may have as many changes.
    await rig.command("FLUSHALL");
    await topics().subscribe("new", "orders");
    expect(await orders.publish(4, { id: "d" })).toMatchObject({ reread: true });
    expect(await take("new")).toEqual(["d"]);
  });

  test("ends at once if its caller aborts it", async () => {
    await subscribe();
    const controller = new AbortController();
    const publisher = instance((names) => names.includes("enqueue") && controller.abort());
    const published = publisher.topics().topic("orders").publish(1, { signal: controller.signal });
    await expect(published).rejects.toMatchObject({ code: "aborted" });
  });
});

describe("a copy is what the queue's own producer would add", () => {
  test("with the declaration that the publisher knows, and else the defaults of the subscription", async () => {
    const billing = defineQueue("billing", { encryption: encrypting(), maxAttempts: 3 });
    const mail = defineQueue("mail", { maxAttempts: 2, delay: "1m", partitions: 3 });
    await topics().subscribe(billing, "orders");
    await topics().subscribe(mail, "orders");
    const here = { definitionOf: (name: string) => (name === "billing" ? billing : undefined) };
    await topics(here).topic("orders").publish("secret", { id: "a" });
    expect(await rig.command("HGET", "sluice:{billing}:tasks", "a")).not.toContain("secret");
    const [task] = await queue("billing", { ...billing.options }).dequeue();
    expect(task).toMatchObject({ id: "a", payload: "secret" });
    expect(await queue("mail").get("a")).toMatchObject({ state: "delayed", options: { maxAttempts: 2 } });
    // A publisher without the key must not write it as it is.
    const failed = topics().topic("orders").publish("secret", { id: "b" });
    await expect(failed).rejects.toMatchObject({ code: "undecryptable" });
    expect(await queue("billing").get("b")).toBeNull();
    expect(await queue("mail").get("b")).toMatchObject({ state: "delayed" });
  });

  test("goes to the partition of its group, and wakes a consumer", async () => {
    const woken: string[] = [];
    const wake = { wake: async (name: string) => void woken.push(name) };
    await subscribe("orders", ["billing", "mail"]);
    await queue("billing", { partitions: 4 }).enqueue(0);
    await take("billing");
    for (const group of ["a", "b", "c", "d"]) {
      await topics({ wake })
        .topic("orders")
        .publish(group, { id: `${group}1`, group });
    }
    const spaces = [...partitionSpaces(await rig.keySpace(), "billing").values()];
    const placed = spaces.map(({ fair }) => [...fair.keys()]);
    expect(placed.flat().toSorted()).toEqual(["a1", "b1", "c1", "d1"]);
    expect(placed.filter((ids) => ids.length > 0).length).toBeGreaterThan(1);
    expect(unregistered(await rig.keySpace(), "billing")).toEqual([]);
    expect(new Set(woken)).toEqual(new Set(["billing", "mail"]));
  });

  test("by transports with the linked edition, also in a strict order", async () => {
    const billing = defineQueue("billing", { order: "strict" });
    const transport = linked(rig.transport);
    const now = () => rig.now;
    const operator = new Operator("billing", { transport });
    await operator.configure({ order: "strict" });
    await topics().subscribe(billing, "orders");
    await topics().subscribe("mail", "orders");
    const open = opening({
      transport,
      now,
      definitionOf: (name) => (name === "billing" ? billing : undefined),
    });
    const orders = topics({ transport, definitionOf: (name) => open(name).definition }).topic("orders");
    await orders.publish(1, { id: "a", group: "g" });
    await orders.publish(2, { id: "b", group: "g" });
    expect(await take("billing", { transport })).toEqual(["a"]);
    // Without a group only the queue in strict order refuses it.
    const error = await orders.publish(3, { id: "c" }).catch((thrown: unknown) => thrown as PublishError);
    expect(error).toMatchObject({ code: "invalid_argument", published: [{ copies: copies(["mail"]) }] });
  });
});

test("a declared topic publishes by itself, with its schema and the queues that it names", async () => {
  const billing = defineQueue("billing", { maxAttempts: 4 });
  const numbers = {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value: unknown) =>
        typeof value === "number" ? { value } : { issues: [{ message: "must be a number" }] },
    },
  } as const;
  const orders = defineTopic<number>("orders", {
    transport: () => rig.transport,
    queues: [billing],
    schema: numbers,
  });
  expect(await orders.subscribe("billing")).toEqual({ queue: "billing", topic: "orders", created: true });
  expect(await orders.subscribe("billing")).toMatchObject({ created: false });
  await orders.publish(1, { id: "a" });
  await orders.publishMany([{ payload: 2, id: "b" }]);
  expect(await queue("billing").get("b")).toMatchObject({ options: { maxAttempts: 4 } });
  await expect(orders.publish("x" as never)).rejects.toMatchObject({
    code: "invalid_argument",
    path: "payload",
  });
  expect(await orders.preview()).toEqual({ queues: ["billing"], filtered: [] });
  expect(await orders.subscriptions()).toMatchObject([{ queue: "billing", topic: "orders", by: "operator" }]);
  expect(await orders.unsubscribe("billing")).toBe(true);
  expect(await orders.unsubscribe("billing")).toBe(false);
  await expect(defineTopic("orders").publish(1)).rejects.toMatchObject({ path: "transport" });
  expect(() => defineTopic("orders", { retain: { for: "1s" } })).toThrow("orders.retain.for must be");
  expect(() => defineTopic("orders", { ratain: {} } as never)).toThrow("ratain");
});
