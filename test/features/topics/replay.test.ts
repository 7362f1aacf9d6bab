import { describe, expect, test } from "vitest";
import { defineTopic } from "../../../src/http/topics/index.ts";
import { SluiceError } from "../../../src/index.ts";
import { encrypting } from "../../support/encrypting.ts";
import { useTopicRig } from "./topic-rig.ts";

const { rig, instance, topics, queue, take, sweep } = useTopicRig();
const HOUR = 3_600_000;
const orders = defineTopic<number>("orders", { retain: { for: "2h", bytes: 2_000_000 } });
const list = "sluice:topic:{orders}";

/** The ids of what the topic has retained. */
async function retained(): Promise<string[]> {
  const members = (await rig.command("ZRANGE", list, "0", "-1")) as string[];
  return members
    .filter((one) => !one.startsWith("~"))
    .map((one) => one.split("\n")[0]?.split(";")[2] as string);
}

/** Publishes messages, one each hour. */
async function publishHourly(...ids: readonly string[]) {
  for (const [i, id] of ids.entries()) {
    if (i > 0) rig.now += HOUR;
    await topics()
      .topic(orders)
      .publish(i, { id, headers: { place: String(i) } });
  }
}

const note = () => rig.command("ZSCORE", "sluice:queues", "~:topics");

describe("a topic that retains messages", () => {
  test("costs one command more for each publish, and a note once a minute", async () => {
    await topics().subscribe("billing", "orders");
    const publisher = instance();
    const topic = publisher.topics().topic(orders);
    await topic.publish(1, { id: "a" });
    await topic.publish(2, { id: "b" });
    expect(publisher.names()).toEqual([
      ["HGETALL", "TIME"],
      ["register", "ZADD", "HSET", "ZADD", "HGET", "enqueue"],
      ["ZADD", "HGET", "enqueue"],
    ]);
    expect(await retained()).toEqual(["a", "b"]);
  });

  test("gives what it has to a queue that subscribes later, once, and with its options", async () => {
    await publishHourly("a", "b", "c");
    await topics()
      .topic(orders)
      .publish(9, { id: "later", delay: "10m", headers: { place: "9" } });
    const subscribed = await topics().subscribe("billing", orders, {
      since: "1h",
      filter: { header: "place", notIn: ["2"] },
    });
    expect(subscribed).toEqual({
      queue: "billing",
      topic: "orders",
      created: true,
      replayed: { messages: 2, more: false },
    });
    expect(await queue("billing").get("later")).toMatchObject({ state: "delayed", dueAt: rig.now + 600_000 });
    const [task] = await queue("billing").dequeue({ max: 10 });
    expect(task).toMatchObject({ id: "b", payload: 1, headers: { place: "1" } });
    // The queue still knows them.
    const again = await topics().replay("billing", orders, { since: new Date(rig.now - 2 * HOUR) });
    expect(again).toEqual({ messages: 3, more: false });
    expect(await take("billing")).toEqual(["a"]);
    await expect(topics().replay("mail", orders, { since: "1h" })).rejects.toMatchObject({ path: "queue" });
  });

  test("is replayed by the call that subscribes, also if its request was sent twice", async () => {
    await publishHourly("a");
    const { transport } = instance();
    const send: typeof transport.send = async (commands, options) => {
      const isChange = commands.some((one) => "script" in one && one.script.name === "putSubscriptions");
      if (isChange) await transport.send(commands, options);
      return transport.send(commands, options);
    };
    const twice = topics({ transport: { ...transport, send } });
    expect(await twice.subscribe("billing", orders, { since: "1h" })).toMatchObject({
      created: true,
      replayed: { messages: 1, more: false },
    });
  });

  test("replays by patterns, topic by topic", async () => {
    for (const name of ["orders.eu", "orders.us", "payments"]) {
      const topic = defineTopic(name, { retain: { for: "1h" } });
      for (const i of [1, 2])
        await topics()
          .topic(topic)
          .publish(i, { id: `${name}-${i}` });
    }
    expect(await topics().subscribe("billing", "orders.*", { since: "1h" })).toMatchObject({
      replayed: { messages: 4 },
    });
    expect(await take("billing")).toEqual(["orders.eu-1", "orders.eu-2", "orders.us-1", "orders.us-2"]);
  });

  test("encrypts what it retains, if it is declared so", async () => {
    const secret = defineTopic("orders", { retain: { for: "1h" }, encryption: encrypting() });
    await topics().topic(secret).publish("Wiedererkennbar", { id: "a" });
    expect(JSON.stringify(await rig.command("ZRANGE", list, "0", "-1"))).not.toContain("Wiedererkennbar");
    await topics().subscribe("billing", secret, { since: "1h" });
    expect((await queue("billing").dequeue())[0]?.payload).toBe("Wiedererkennbar");
  });

  test("keeps many messages of one instant, and large ones", async () => {
    await topics()
      .topic(orders)
      .publishMany(Array.from({ length: 250 }, (_, i) => ({ payload: i, id: `m${i}` })));
    const large = defineTopic<string>("large", { retain: { for: "1h", bytes: 8_000_000 } });
    for (const id of ["a", "b", "c"]) await topics().topic(large).publish("x".repeat(900_000), { id });
    const reader = instance();
    expect(await reader.topics().subscribe("billing", "#", { since: "1h" })).toMatchObject({
      replayed: { messages: 253, more: false },
    });
    expect(
      reader
        .names()
        .flat()
        .filter((name) => name === "readTopic"),
    ).toHaveLength(5);
    expect(await queue("billing").counts()).toMatchObject({ pending: 253 });
    const huge = topics()
      .topic(orders)
      .publish("x".repeat(1_048_577) as never);
    await expect(huge).rejects.toMatchObject({ code: "too_large" });
  });
});

describe("a publisher that knows only the name of a topic", () => {
  test("retains what others have declared, for two days after that was last seen", async () => {
    const publish = (id: string) => topics().topic("orders").publish(1, { id });
    await publish("a");
    expect(await retained()).toEqual([]);
    await topics().topic(orders).publish(1, { id: "b" });
    // The same instance at once, others within a minute.
    await publish("b2");
    await instance().topics().topic("orders").publish(1, { id: "c" });
    expect(await retained()).toEqual(["b", "b2", "c"]);
    rig.now += 48 * HOUR;
    await instance().topics().topic("orders").publish(1, { id: "d" });
    // One that has another declaration goes by that.
    await topics().topic(defineTopic("orders")).publish(1, { id: "e" });
    expect(await retained()).toEqual(["b", "b2", "c"]);
    await publish("f");
    expect(await retained()).toEqual(["b", "b2", "c"]);
  });

  test("refuses what others encrypt, and what is too large", async () => {
    const secret = defineTopic("orders", { retain: { for: "1h" }, encryption: encrypting() });
    await topics().topic(secret).publish("x", { id: "a" });
    await topics().subscribe("billing", "orders");
    const other = instance().topics();
    await expect(other.topic("orders").publish(1)).rejects.toMatchObject({ code: "undecryptable" });
    await expect(other.replay("billing", "orders", { since: "1h" })).rejects.toMatchObject({
      code: "undecryptable",
    });
    expect(await take("billing")).toEqual([]);
    await rig.command("FLUSHALL");
    await topics().topic(orders).publish(1, { id: "a" });
    const huge = instance().topics().topic("orders").publish("x".repeat(1_048_575));
    await expect(huge).rejects.toMatchObject({ code: "too_large", path: "payload" });
    await instance().topics().topic("orders").publish("x".repeat(1_048_574), { id: "b" });
    expect(await retained()).toEqual(["a", "b"]);
  });
});

describe("sweeps", () => {
  test("remove what was retained for long enough, and end when nothing is left", async () => {
    await publishHourly("a", "b", "c");
    await sweep();
    expect(await retained()).toEqual(["a", "b", "c"]);
    rig.now += 1;
    await sweep();
    expect(await retained()).toEqual(["b", "c"]);
    rig.now += 2 * HOUR;
    expect(await note()).not.toBeNull();
    await sweep();
    await sweep();
    expect(await note()).toBeNull();
    expect(await rig.command("EXISTS", list)).toBe(0);
  });

  test("remove the oldest beyond the bytes of the topic", async () => {
    const text = "x".repeat(450_000);
    for (const id of ["a", "b", "c", "d"])
      await topics()
        .topic(orders)
        .publish(text as never, { id });
    await sweep();
    expect(await retained()).toEqual(["a", "b", "c", "d"]);
    await topics()
      .topic(orders)
      .publish(text as never, { id: "e" });
    await sweep();
    expect(await retained()).toEqual(["b", "c", "d", "e"]);
    // Small ones take the place of a large one.
    await topics()
      .topic(orders)
      .publishMany(Array.from({ length: 300 }, (_, i) => ({ payload: i, id: `m${i}` })));
    await sweep();
    expect((await retained()).slice(0, 5)).toEqual(["b", "c", "d", "e", "m0"]);
    const [[size, bytes]] = [
      ((await rig.command("ZRANGE", list, "0", "0")) as string[])[0]?.slice(1).split(";") ?? [],
    ];
    expect(Number(size)).toBe(304);
    const all = (await rig.command("ZRANGE", list, "1", "-1")) as string[];
    expect(Number(bytes)).toBe(all.reduce((sum, { length }) => sum + length, 0));
  });

  test("continue a replay that has died half way, a minute later", async () => {
    await topics()
      .topic(orders)
      .publishMany(Array.from({ length: 250 }, (_, i) => ({ payload: i, id: `m${i}` })));
    let pages = 0;
    const dies = instance((names) => {
      if (names.includes("readTopic") && ++pages === 2) throw new SluiceError("redis_unreachable", "died");
    });
    const failed = dies.topics().subscribe("billing", orders, { since: "1h" });
    await expect(failed).rejects.toMatchObject({ code: "redis_unreachable" });
    expect(await queue("billing").counts()).toMatchObject({ pending: 100 });
    await sweep();
    expect(await queue("billing").counts()).toMatchObject({ pending: 100 });
    rig.now += 61_000;
    await sweep();
    expect(await queue("billing").counts()).toMatchObject({ pending: 250 });
    const fields = (await rig.command("HKEYS", "sluice:topics")) as string[];
    expect(fields.toSorted()).toEqual(["/orders", "billing orders", "~"]);
    // What died goes on, and finds that others have done its work.
    expect(await take("billing")).toHaveLength(250);
    await sweep();
    expect(await queue("billing").counts()).toMatchObject({ pending: 0 });
  });

  test("remove messages of an instant of which a replay has read some, and it gets those that are left", async () => {
    const large = defineTopic<string>("orders", { retain: { for: "2h", bytes: 2_000_000 } });
    const ids = Array.from({ length: 105 }, (_, i) => `m${i + 100}`);
    const payload = "x".repeat(19_500);
    await topics()
      .topic(large)
      .publishMany(ids.map((id) => ({ id, payload })));
    let pages = 0;
    const other = instance(async (names) => {
      if (!names.includes("readTopic") || ++pages !== 2) return;
      // Four of those that were read must go.
      await topics()
        .topic(large)
        .publishMany([{ id: "n", payload }]);
      await sweep();
      expect(await retained()).toEqual([...ids.slice(4), "n"]);
    });
    await other.topics().subscribe("billing", large, { since: "1h" });
    expect(pages).toBe(2);
    expect((await take("billing")).toSorted()).toEqual([...ids, "n"]);
  });

  test("leave a replay to the call that continues it, of which only one does", async () => {
    await topics()
      .topic(orders)
      .publishMany(Array.from({ length: 150 }, (_, i) => ({ payload: i, id: `m${i}` })));
    await topics().subscribe("billing", orders);
    const other = instance();
    let begun = 0;
    const slow = instance(async (names) => {
      // Another call begins the replay anew, meanwhile.
      if (names.includes("enqueue") && begun++ === 0) {
        expect(await other.topics().replay("billing", orders, { since: "1h" })).toEqual({
          messages: 150,
          more: false,
        });
      }
    });
    expect(await slow.topics().replay("billing", orders, { since: "1h" })).toEqual({
      messages: 100,
      more: true,
    });
    expect(await queue("billing").counts()).toMatchObject({ pending: 150 });
  });

  test("leave a note in the list, which is no message", async () => {
    await publishHourly("a", "b");
    await sweep();
    const all = await topics().subscribe("billing", orders, { since: new Date(0) });
    expect(all.replayed).toEqual({ messages: 2, more: false });
  });

  test("go on with what a publisher adds while they end", async () => {
    await publishHourly("a");
    rig.now += 3 * HOUR;
    const sweeper = instance(async (names) => {
      if (names.includes("ZREMRANGEBYSCORE")) await topics().topic(orders).publish(2, { id: "b" });
    });
    await sweep(sweeper.transport);
    await topics().subscribe("billing", orders, { since: "1h" });
    expect(await take("billing")).toEqual(["b"]);
    rig.now += 3 * HOUR;
    await sweep();
    await sweep();
    expect([await rig.command("EXISTS", list), await note()]).toEqual([0, null]);
  });

  test("go on if topics have what only a later release can read, and say so", async () => {
    await publishHourly("a");
    await queue("billing").enqueue(1, { delay: "1m" });
    await rig.command("HSET", "sluice:topics", "mail orders", "2;x");
    rig.now += 60_000;
    const { promoted, failed } = await sweep();
    expect([promoted, failed]).toEqual([1, [{ queue: "~topics", code: "newer_schema" }]]);
    await rig.command("HDEL", "sluice:topics", "mail orders");
    // How long the messages are kept is not known either.
    await rig.command("HSET", "sluice:topics", "/orders", "2;1;1");
    rig.now += 60_000;
    await sweep();
    expect(await retained()).toEqual(["a"]);
  });

  test("of a database without such topics cost nothing more", async () => {
    await topics().subscribe("billing", "orders");
    await topics().topic("orders").publish(1);
    const sweeper = instance();
    await sweep(sweeper.transport);
    expect(sweeper.names().flat()).not.toContain("HGETALL");
  });
});
