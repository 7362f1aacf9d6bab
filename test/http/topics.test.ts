import { beforeEach, describe, expect, it } from "vitest";
import { defineQueue, Operator, Queue } from "../../src/index.ts";
import { defineTopic, Topics } from "../../src/http/topics/index.ts";
import { encrypting, MARKER, shows } from "../support/encrypting.ts";
import { readKeySpace } from "../support/key-space.ts";
import { type Ask, expectProblem, useServed } from "./served.ts";

const failures: string[] = [];
const served = useServed({ onError: ({ code, route }) => void failures.push(`${code} ${route}`) });
const { ask } = served;
// Another object for each test: an instance remembers the subscriptions of its database.
const ownTransport = () => ({ ...served.transport });
let app: Ask;
beforeEach(async () => {
  failures.length = 0;
  await served.transport.send([["FLUSHALL"]]);
  app = served.asking({ transport: ownTransport() });
});

const subscribe = (queue: string, topic = "orders", json: object = {}) =>
  app("PUT", `/v1/topics/${encodeURIComponent(topic)}/subscriptions/${queue}`, { json });
const publish = (json: unknown, headers: Record<string, string> = {}, topic = "orders") =>
  app("POST", `/v1/topics/${topic}/publish`, { json, headers });
const pulled = async (queue: string) =>
  (await ask("POST", `/v1/queues/${queue}/tasks/pull`, { json: { max: 10 } })).body.tasks;
const pathsOf = ({ body }: Awaited<ReturnType<Ask>>) => body.errors.map(({ path }: { path: string }) => path);

describe("POST /v1/topics/{topic}/publish", () => {
  it("gives each queue that has subscribed a copy: 201, and 200 if all had theirs", async () => {
    await subscribe("billing");
    await subscribe("search", "orders.#");
    await subscribe("eu", "orders", { filter: { header: "region", in: ["eu"] } });
    const message = { payload: "AAEC", encoding: "base64", headers: { region: "us" }, maxAttempts: 3 };
    const first = await publish(message, { "idempotency-key": "k1" });
    const copies = (created: boolean) => [
      { queue: "billing", created },
      { queue: "search", created },
    ];
    const { id } = first.body;
    expect([first.status, first.body]).toEqual([201, { id, copies: copies(true), reread: false }]);
    const resent = await publish(message, { "idempotency-key": "k1" });
    expect([resent.status, resent.body]).toEqual([201, first.body]);
    const other = await publish({ ...message, payload: "AAED" }, { "idempotency-key": "k1" });
    expectProblem(other, "idempotency_key_reused");
    const again = await publish({ ...message, id });
    expect([again.status, again.body]).toEqual([200, { id, copies: copies(false), reread: false }]);
    for (const queue of ["billing", "search"]) {
      expect(await pulled(queue)).toMatchObject([{ id, payload: "AAEC", encoding: "base64" }]);
    }
    const options = (await ask("GET", `/v1/queues/billing/tasks/${id}`)).body.options;
    expect(options.maxAttempts).toBe(3);

    const messages = [
      { payload: 1, id: "one" },
      { payload: 2, headers: { region: "eu" } },
    ];
    const several = await publish({ messages });
    const queues = several.body.messages.map((one: { copies: { queue: string }[] }) =>
      one.copies.map(({ queue }) => queue).toSorted(),
    );
    expect([several.status, queues, several.body.messages[0].id]).toEqual([
      201,
      [
        ["billing", "search"],
        ["billing", "eu", "search"],
      ],
      "one",
    ]);
    const unheard = await publish({ payload: 1, id: "n" }, {}, "unknown");
    expect([unheard.status, unheard.body]).toEqual([200, { id: "n", copies: [], reread: false }]);
  });

  it("refuses what no copy could have, before any queue has one", async () => {
    await subscribe("billing");
    const wrong = { payload: 1, delay: "soon", prio: 1, debounce: { key: "a", wait: 1 } };
    expect(pathsOf(await publish(wrong))).toEqual(["delay", "prio", "debounce"]);
    expect(pathsOf(await publish({ messages: [] }))).toEqual(["messages"]);
    expect(pathsOf(await publish({ messages: [{ payload: 1 }, {}] }))).toEqual(["messages[1].payload"]);
    const both = { delay: 5, at: 1_800_000_000_000 };
    expect(pathsOf(await publish({ messages: [{ payload: 1 }, { payload: 1, ...both }] }))).toEqual([
      "messages[1].at",
    ]);
    expect(pathsOf(await publish({ payload: 1 }, {}, "orders.*"))).toEqual(["topic"]);
    expect(await pulled("billing")).toEqual([]);
  });

  it("says which queues have a copy if one has none, and gives it the copy when it is sent again", async () => {
    for (const queue of ["billing", "full"]) await subscribe(queue);
    const full = new Operator("full", { transport: served.transport });
    await full.configure({ maxPending: 1 });
    await new Queue("full", { transport: served.transport }).enqueue(0);
    const key = { "idempotency-key": "k" };
    const body = expectProblem(await publish({ payload: 1 }, key), "queue_full");
    const [{ id }] = body.published;
    expect(body.published).toEqual([
      { id, copies: [{ queue: "billing", created: true }], failed: [{ queue: "full", code: "queue_full" }] },
    ]);
    expect(body.detail).toContain("`published` says which have");
    await full.configure({ maxPending: null });
    expect((await publish({ payload: 1 }, key)).body.copies).toEqual([
      { queue: "billing", created: true },
      { queue: "full", created: true },
    ]);
    expect(failures).toEqual([]);
  });

  it("encrypts the copies of queues that are declared to be encrypted, and only where they are", async () => {
    const encryption = encrypting();
    const vault = defineQueue("vault", { encryption });
    const declaring = served.asking({
      transport: ownTransport(),
      definitionOf: (name) => (name === "vault" ? vault : undefined),
    });
    await declaring("PUT", "/v1/topics/orders/subscriptions/vault");
    const json = { payload: { text: MARKER }, id: "a" };
    expect((await declaring("POST", "/v1/topics/orders/publish", { json })).status).toBe(201);
    expect(shows(JSON.stringify(await readKeySpace(served.redis.url)))).toBe(false);
    const [task] = await new Queue(vault, { transport: served.transport }).dequeue();
    expect([task?.id, task?.payload]).toEqual(["a", { text: MARKER }]);

    const refused = await publish({ payload: 1, id: "b" });
    const { detail, published } = expectProblem(refused, "unsupported");
    expect(detail).toContain("vault: What is encrypted can be read and written only where");
    expect(published).toEqual([{ id: "b", copies: [], failed: [{ queue: "vault", code: "undecryptable" }] }]);
  });
});

describe("subscriptions", () => {
  it("are made, listed, shown by topic, replaced and ended", async () => {
    const filter = [
      { header: "region", in: ["eu"] },
      { header: "test", exists: false },
    ];
    const made = await subscribe("billing", "orders.*", { filter });
    expect([made.status, made.body]).toEqual([201, { topic: "orders.*", queue: "billing", created: true }]);
    expect((await subscribe("billing", "orders.*", { filter: filter[1] as object })).status).toBe(200);
    await subscribe("search", "#");
    const listed = [
      { topic: "orders.*", queue: "billing", by: "operator", filter: [filter[1]] },
      { topic: "#", queue: "search", by: "operator", filter: [] },
    ];
    expect((await app("GET", "/v1/topics", { as: "view" })).body).toEqual({ subscriptions: listed });
    const topic = async (name: string) => (await app("GET", `/v1/topics/${name}`)).body;
    expect(await topic("orders.new")).toEqual({ topic: "orders.new", subscriptions: listed, retain: null });
    expect((await topic("orders")).subscriptions).toEqual([listed[1]]);
    const preview = await app("POST", "/v1/topics/orders.new/preview", { json: { headers: { test: "1" } } });
    expect(preview.body).toEqual({ queues: ["search"], filtered: ["billing"] });
    for (const removed of [true, false]) {
      const { status, body } = await app("DELETE", "/v1/topics/orders.*/subscriptions/billing");
      expect([status, body]).toEqual([200, { topic: "orders.*", queue: "billing", removed }]);
    }
  });

  it.each([
    [{ filter: { header: "a" } }, "filter"],
    [{ filter: { header: "a", in: ["b"], exists: true } }, "filter"],
    [{ filter: { header: "", exists: true } }, "filter.header"],
    [{ since: "soon" }, "since"],
    [{ since: 1_800_000_000 }, "since"],
    [{ until: 1 }, "until"],
  ])("%j is refused", async (json, path) => {
    expect(pathsOf(await subscribe("billing", "orders", json))).toEqual([path]);
  });

  it("need a token for a queue of the topic's name, and for all queues if it is a pattern", async () => {
    const as = "mails" as const;
    const put = (topic: string, queue: string) =>
      app("PUT", `/v1/topics/${topic}/subscriptions/${queue}`, { as });
    for (const path of ["mails-new", "orders", "%23"]) {
      const answer = await put(path, "mails-a");
      if (path === "mails-new") expect(answer.status).toBe(201);
      else expectProblem(answer, "forbidden");
    }
    expectProblem(await put("mails-new", "billing"), "forbidden");
    await subscribe("billing", "mails-new");
    // Its owner has subscribed it.
    const published = await app("POST", "/v1/topics/mails-new/publish", { as, json: { payload: 1 } });
    expect(published.body.copies).toHaveLength(2);
    const { detail } = expectProblem(
      await app("POST", "/v1/topics/orders/publish", { as, json: { payload: 1 } }),
      "forbidden",
    );
    expect(detail).toBe("The token does not have the scope enqueue for a queue named orders.");
    const { body } = await app("GET", "/v1/topics/mails-new", { as });
    expect(body.subscriptions.map(({ queue }: { queue: string }) => queue)).toEqual(["mails-a"]);
  });
});

describe("replays", () => {
  const orders = (encryption?: ReturnType<typeof encrypting>) =>
    defineTopic("orders", { retain: { for: "1h" }, encryption });
  const publisher = (encryption?: ReturnType<typeof encrypting>) =>
    new Topics({ transport: ownTransport() }).topic(orders(encryption));

  it("give a queue what its topic has kept, when it subscribes and on request", async () => {
    for (const id of ["a", "b"]) await publisher().publish(id, { id });
    expect((await app("GET", "/v1/topics/orders")).body.retain).toEqual({
      for: 3_600_000,
      bytes: 10_000_000,
    });
    const { status, body } = await subscribe("billing", "orders", { since: "1h" });
    expect([status, body.replayed]).toEqual([201, { messages: 2, more: false }]);
    const path = "/v1/topics/orders/subscriptions/billing/replay";
    const again = await app("POST", path, { json: { since: 0, budget: "5s" } });
    expect([again.status, again.body]).toEqual([
      200,
      { topic: "orders", queue: "billing", messages: 2, more: false },
    ]);
    // It knows them already.
    expect((await pulled("billing")).map(({ id }: { id: string }) => id)).toEqual(["a", "b"]);
    expect(pathsOf(await app("POST", path, { json: {} }))).toEqual(["since"]);
    const other = "/v1/topics/orders/subscriptions/search/replay";
    expectProblem(await app("POST", other, { json: { since: "1h" } }), "not_found");
  });

  it("of an encrypted topic are refused where it is not declared", async () => {
    await publisher(encrypting()).publish(1);
    const { detail } = expectProblem(await subscribe("billing", "orders", { since: "1h" }), "unsupported");
    expect(detail).toContain("ask the deployment that declares it");
    expectProblem(await publish({ payload: 1 }), "unsupported");
  });
});
