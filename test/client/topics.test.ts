import { expect, test } from "vitest";
import { z } from "zod";
import { createTopicClient, PublishError } from "../../src/client/topics/index.ts";
import { Topics, defineTopic } from "../../src/http/topics/index.ts";
import { secrets } from "../http/served.ts";
import { PATIENT, useServer } from "./rig.ts";

const server = useServer();
const topics = (as: "all" | "mails" = "all", more: object = {}) =>
  createTopicClient({ url: server.way().url, token: secrets[as], ...more });
const pulled = async (queue: string) =>
  (await server.direct(queue).dequeue({ max: 10 })).map(({ id, payload, headers }) => [id, payload, headers]);

test("publishes what queues have subscribed to, and sends it again when the answer is lost", async () => {
  const made = await topics().subscribe("billing", "orders.#", {
    filter: { header: "region", in: ["eu"] },
  });
  expect(made).toEqual({ queue: "billing", topic: "orders.#", created: true });
  await topics().subscribe("search", "orders");
  server.way().clear();
  server.way().faults = ["lost reply", "reset"];
  const orders = topics().topic("orders");
  const published = await orders.publish({ n: 1 }, { headers: { region: "eu" } });
  const copies = ["billing", "search"].map((queue) => ({ queue, created: true }));
  expect(published).toEqual({ id: published.id, copies, failed: [], reread: false });
  const keys = server.way().copies.map(({ headers }) => headers.get("idempotency-key"));
  expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  const many = [
    { payload: new Uint8Array([1]), id: "b" },
    { payload: "c", id: "c", at: new Date(1) },
  ];
  expect((await orders.publishMany(many)).map(({ id }) => id)).toEqual(["b", "c"]);
  expect(await orders.publishMany([])).toEqual([]);
  expect(await pulled("billing")).toEqual([[published.id, { n: 1 }, { region: "eu" }]]);
  expect((await pulled("search")).map(([, payload]) => payload)).toEqual([
    { n: 1 },
    new Uint8Array([1]),
    "c",
  ]);
  expect(await orders.preview({ headers: { region: "us" } })).toEqual({
    queues: ["search"],
    filtered: ["billing"],
  });
  expect(await topics().subscriptions()).toEqual(await orders.subscriptions());
  expect(await topics().unsubscribe("billing", "orders.#")).toBe(true);
  expect(await topics().unsubscribe("billing", "orders.#")).toBe(false);
  expect((await orders.subscriptions()).map(({ queue }) => queue)).toEqual(["search"]);
});

test("throws what the library throws: a PublishError with the queues that have a copy", async () => {
  for (const queue of ["billing", "full"]) await topics().subscribe(queue, "orders");
  await server.operator("full").configure({ maxPending: 1 });
  await server.direct("full").enqueue(0);
  const error = (await topics()
    .topic("orders")
    .publish(1, { id: "a" })
    .catch((thrown: unknown) => thrown)) as PublishError;
  expect(error).toBeInstanceOf(PublishError);
  const message = "the server answered queue_full";
  expect([error.code, error.published]).toEqual([
    "queue_full",
    [
      {
        id: "a",
        copies: [{ queue: "billing", created: true }],
        failed: [{ queue: "full", code: "queue_full", message }],
        reread: false,
      },
    ],
  ]);
  expect(error.message).toBe(
    `orders: not every queue has got its copy; publish with the id a again: full: ${message}`,
  );
  const refused = topics("mails").topic("orders").publish(1);
  await expect(refused).rejects.toMatchObject({ code: "unauthorized" });
  await expect(refused).rejects.not.toBeInstanceOf(PublishError);
});

test("uses the schema of a declared topic, and names the message", async () => {
  const orders = topics().topic(defineTopic("orders", { schema: z.object({ n: z.number() }) }));
  const wrong = [{ payload: { n: 1 } }, { payload: { n: "1" as unknown as number } }];
  await expect(orders.publishMany(wrong)).rejects.toMatchObject({
    code: "invalid_argument",
    path: expect.stringContaining("messages[1].payload"),
  });
  expect(() => topics().topic("orders.*")).toThrow("topic must be words");
  expect(server.way().copies).toEqual([]);
});

test("gives a queue what a topic has retained", async () => {
  const own = new Topics({ transport: { ...server.transport() } });
  await own.topic(defineTopic("orders", { retain: { for: "1h" } })).publish(1, { id: "a" });
  const client = topics("all", { retry: PATIENT });
  expect((await client.subscribe("late", "orders", { since: 3_600_000 })).replayed).toEqual({
    messages: 1,
    more: false,
  });
  const since = new Date(0);
  expect(await client.replay("late", "orders", { since, budget: "5s" })).toEqual({
    messages: 1,
    more: false,
  });
  expect(await pulled("late")).toEqual([["a", 1, undefined]]);
  await expect(client.replay("other", "orders", { since })).rejects.toMatchObject({
    code: "invalid_argument",
    path: "queue",
  });
});
