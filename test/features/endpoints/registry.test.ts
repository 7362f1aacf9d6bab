import { describe, expect, test } from "vitest";
import { Endpoints, type EndpointsOptions } from "../../../src/open/endpoints/index.ts";
import { encryption } from "../../../src/features/encryption/aes-gcm.ts";
import type { Transport } from "../../../src/kernel/transport.ts";
import { QUEUE, START, useRig } from "../../support/rig.ts";

// The registry of endpoints: what is kept, who gets an event, and what of it is shown.

const rig = useRig();
const url = "https://acme.example/hooks";

const endpoints = (options: Partial<EndpointsOptions> = {}) =>
  new Endpoints(QUEUE, { transport: rig.transport, now: () => rig.now, ...options });

/** Another function instance. */
const instance = (): Transport => ({
  send: (commands, options) => rig.transport.send(commands, options),
});

const added = async (id: string, types?: readonly string[]) => {
  const done = await endpoints().add({ id, url: `https://${id}.example/hooks`, types });
  if (!done.ok) throw new Error(done.code);
  return done;
};

describe("an endpoint", () => {
  test("is kept with its defaults, and its secret is shown once", async () => {
    const done = await endpoints().add({ id: "acme", url, headers: { "x-tenant": "a secret" } });
    expect(done).toEqual({
      ok: true,
      secret: expect.stringMatching(/^whsec_[\w+/]{43}=$/) as string,
      endpoint: {
        id: "acme",
        url,
        types: ["#"],
        description: null,
        rate: null,
        maxWorking: null,
        order: null,
        headers: ["x-tenant"],
        secrets: [{ endsWith: done.ok ? done.secret.slice(-4) : "", validUntil: null }],
        createdAt: START,
        state: "active",
        disabledReason: null,
        disabledAt: null,
        failingSince: null,
        retryAt: null,
      },
    });
    expect(await endpoints().get("acme")).toEqual(done.ok && done.endpoint);
    expect(JSON.stringify(await endpoints().list())).not.toContain("a secret");
    expect(await endpoints().add({ id: "acme", url })).toEqual({ ok: false, code: "exists" });
  });

  test("is changed in what is given", async () => {
    await added("acme", ["orders.*"]);
    const changed = await endpoints().change("acme", {
      rate: { most: 5, per: "1s" },
      maxWorking: 2,
      order: "strict",
      description: "of Acme",
    });
    expect(changed).toMatchObject({
      types: ["orders.*"],
      rate: { most: 5, per: 1_000 },
      maxWorking: 2,
      order: "strict",
      description: "of Acme",
    });
    expect(await rig.operator().groupSettings("acme")).toMatchObject({
      rate: { most: 5, per: 1_000 },
      maxWorking: 2,
      order: "strict",
    });
    expect(await endpoints().change("acme", { rate: null, order: null })).toMatchObject({
      rate: null,
      maxWorking: 2,
      order: null,
    });
    expect(await endpoints().change("other", { maxWorking: 1 })).toBeNull();
  });

  test("is removed with the settings of its group", async () => {
    await endpoints().add({ id: "acme", url, maxWorking: 2 });
    expect(await endpoints().remove("acme")).toBe(true);
    expect(await endpoints().remove("acme")).toBe(false);
    expect(await endpoints().get("acme")).toBeNull();
    expect(await rig.operator().groupSettings("acme")).toMatchObject({ maxWorking: null });
  });

  test("gets another secret, and the one before signs for a day", async () => {
    const { secret } = await added("acme");
    const rotated = await endpoints().rotate("acme");
    const validUntil = START + 86_400_000;
    expect(rotated?.endpoint.secrets).toEqual([
      { endsWith: rotated?.secret.slice(-4), validUntil: null },
      { endsWith: secret.slice(-4), validUntil },
    ]);
    const find = () => endpoints().find({ task: { group: "acme" } });
    rig.now = validUntil - 1;
    expect(await find()).toMatchObject({ secrets: [rotated?.secret, secret] });
    rig.now = validUntil;
    expect(await find()).toMatchObject({ secrets: [rotated?.secret] });
    // At most two are valid: of three the first one is dropped.
    await endpoints().rotate("acme");
    const third = await endpoints().rotate("acme", { keep: "1h" });
    expect(third?.endpoint.secrets).toHaveLength(2);
    expect((await endpoints().rotate("acme", { keep: 0 }))?.endpoint.secrets).toHaveLength(1);
  });

  test("is added once, and gets one secret, if a call with an idempotency key is repeated", async () => {
    const add = () => endpoints().add({ url }, { idempotencyKey: "k" });
    const first = await add();
    expect(await add()).toEqual(first);
    const { id } = first.ok ? first.endpoint : { id: "" };
    const rotate = () => endpoints().rotate(id, { idempotencyKey: "k" });
    const rotated = await rotate();
    expect(await rotate()).toEqual(rotated);
    await endpoints().change(id, { headers: { "x-a": "b" } });
    expect((await rotate())?.secret).toBe(rotated?.secret);
    expect(await endpoints().find({ task: { group: id } })).toMatchObject({
      secrets: [rotated?.secret, first.ok && first.secret],
    });
    expect(await add()).toEqual({ ok: false, code: "exists" });
    expect((await endpoints().list()).endpoints).toHaveLength(1);
  });

  test("has its secrets and headers encrypted, if the queue is", async () => {
    const key = (byte: number) => new Uint8Array(32).fill(byte);
    const sealing = { encryption: encryption({ keys: { a: key(1) }, current: "a" }) };
    const done = await endpoints(sealing).add({ id: "acme", url, headers: { "x-key": "hidden-key" } });
    if (!done.ok) throw new Error(done.code);
    const stored = String(await rig.command("HGET", "sluice:endpoints", "acme"));
    expect(stored).not.toContain("hidden-key");
    expect(stored).not.toContain(done.secret.slice(6, 20));
    expect(await endpoints(sealing).find({ task: { group: "acme" } })).toEqual({
      url,
      headers: { "x-key": "hidden-key" },
      secrets: [done.secret],
    });
    await expect(endpoints().find({ task: { group: "acme" } })).rejects.toMatchObject({
      code: "undecryptable",
    });
    // What is shown needs no key.
    expect(await endpoints().get("acme")).toMatchObject({ headers: ["x-key"] });
  });

  test.for([
    [{ url: "http://169.254.169.254/" }, "url"],
    [{ url: "ftp://acme.example" }, "url"],
    [{ url: "http://localhost:80" }, "url"],
    [{ url, id: "a.b" }, "id"],
    [{ url, secret: "whsec_short" }, "secret"],
    [{ url, types: [] }, "types"],
    [{ url, types: ["a b"] }, "types[0]"],
    [{ url, headers: { host: "x" } }, "headers.host"],
    [{ url, headers: { TE: "trailers" } }, "headers.TE"],
    [{ url, headers: { "proxy-authorization": "x" } }, "headers.proxy-authorization"],
    [{ url, headers: { a: "b\r\nc: d" } }, "headers.a"],
    [{ url, maxWorking: 0 }, "maxWorking"],
    [{ url, rate: { most: 0, per: "1s" } }, "rate.most"],
    [{ url, other: 1 }, "other"],
  ] as const)("is refused: %j", async ([given, path]) => {
    await expect(endpoints().add(given as never)).rejects.toMatchObject({ code: "invalid_argument", path });
    expect(await rig.command("EXISTS", "sluice:endpoints")).toBe(0);
  });

  test("of which there are 1,000 is the last one", async () => {
    const fields = Array.from({ length: 999 }, (_, i) => [`e${i}`, "1;{}", `.e${i}`, "1;1;1;c"]).flat();
    await rig.command("HSET", "sluice:endpoints", "~version", "999", ...fields);
    await added("last");
    await expect(endpoints().add({ url })).rejects.toMatchObject({ code: "too_large" });
  });
});

test("endpoints are listed by pages", async () => {
  for (const id of ["c", "a", "b"]) await added(id);
  const first = await endpoints().list({ size: 2 });
  expect([first.endpoints.map(({ id }) => id), first.cursor]).toEqual([["a", "b"], "~b"]);
  const second = await endpoints().list({ size: 2, cursor: "~b" });
  expect([second.endpoints.map(({ id }) => id), second.cursor]).toEqual([["c"], null]);
});

describe("an event", () => {
  test("is one task for each endpoint whose types it matches, in the endpoint's group", async () => {
    await added("all");
    await added("orders", ["orders.*", "orders.eu.#"]);
    await added("invoices", ["invoices.#"]);
    const sent = await endpoints().send({ id: "e1", type: "orders.paid", payload: { order: 17 } });
    expect(sent).toEqual({
      id: "e1",
      deliveries: [
        { endpoint: "all", id: "e1.{all}", created: true },
        { endpoint: "orders", id: "e1.{orders}", created: true },
      ],
    });
    const tasks = await rig.queue().dequeue({ max: 10 });
    expect(tasks.map(({ id, group, payload }) => [id, group, payload])).toEqual([
      ["e1.{all}", "all", { order: 17 }],
      ["e1.{orders}", "orders", { order: 17 }],
    ]);
  });

  test("that is sent again adds only what is missing", async () => {
    await added("a");
    const event = { type: "orders.paid", payload: 1 };
    const first = await endpoints().send(event, { idempotencyKey: "k" });
    await added("b");
    const again = await endpoints().send(event, { idempotencyKey: "k" });
    expect(again.id).toBe(first.id);
    expect(again.deliveries.map(({ endpoint, created }) => [endpoint, created])).toEqual([
      ["a", false],
      ["b", true],
    ]);
  });

  test("goes in several requests if it is large", async () => {
    for (const id of ["a", "b", "c"]) await added(id);
    let requests = 0;
    const counting: Transport = {
      send: (commands, options) => {
        requests += 1;
        return rig.transport.send(commands, options);
      },
    };
    const own = endpoints({ transport: counting });
    await own.list();
    requests = 0;
    const sent = await own.send({ type: "t", payload: "x".repeat(1_000_000) });
    expect([sent.deliveries.length, requests]).toEqual([3, 1]);
  });

  test("of another type, or none, is refused", async () => {
    await expect(endpoints().send({ type: "orders.*", payload: 1 })).rejects.toMatchObject({
      path: "type",
    });
    await expect(endpoints().send({ type: "a", id: "{a}", payload: 1 })).rejects.toMatchObject({
      path: "id",
    });
  });
});

test("in a divided queue all deliveries of an endpoint are in the partition of its group", async () => {
  await rig.operator().resize(4);
  const own = endpoints({ partitions: "stored" });
  await own.add({ id: "acme", url, maxWorking: 1 });
  for (let i = 0; i < 5; i++) await own.send({ type: "t", payload: i });
  const queue = rig.queue({ partitions: "stored" });
  expect(await queue.dequeue({ max: 10 })).toHaveLength(1);
  expect(await queue.dequeue({ max: 10 })).toHaveLength(0);
});

describe("an instance reads the endpoints", () => {
  test("at most every ten seconds, and sees changes of others then", async () => {
    await added("a");
    const own = endpoints({ transport: instance() });
    const names = async () => {
      const { deliveries } = await own.send({ type: "t", payload: 1 });
      return deliveries.map(({ endpoint }) => endpoint);
    };
    expect(await names()).toEqual(["a"]);
    await added("b");
    rig.now += 9_999;
    expect(await names()).toEqual(["a"]);
    rig.now += 1;
    expect(await names()).toEqual(["a", "b"]);
  });

  test("at once, before a delivery is given up or put off", async () => {
    await added("a");
    const own = endpoints({ transport: instance() });
    const find = () => own.find({ task: { group: "a" } });
    await endpoints().disable("a");
    expect(await find()).toMatchObject({ disabled: "an operator has disabled the endpoint" });
    await endpoints().enable("a");
    expect(await find()).toMatchObject({ secrets: [expect.any(String)] });
    for (let i = 0; i < 5; i++)
      await endpoints().report({ ok: false, gone: false }, { task: { group: "a" } });
    rig.now += 10_000;
    await expect(find()).rejects.toMatchObject({ name: "RetryAfter", delay: 20_000 });
    await endpoints().enable("a");
    expect(await find()).toMatchObject({ secrets: [expect.any(String)] });
  });

  test("only if they have changed, for the deliveries of one that was removed", async () => {
    await added("a");
    const commands: string[] = [];
    const { send } = instance();
    const own = endpoints({
      transport: {
        send: (all, options) => {
          commands.push(...all.map((one) => ("script" in one ? one.script.name : one[0])));
          return send(all, options);
        },
      },
    });
    await own.find({ task: { group: "a" } });
    for (const group of ["b", "c"]) expect(await own.find({ task: { group } })).toBeUndefined();
    expect(commands).toEqual(["HGETALL", "HGET", "HGET"]);
  });

  test("at once, if it delivers to one that it does not know", async () => {
    await added("a");
    const own = endpoints({ transport: instance() });
    await own.find({ task: { group: "a" } });
    const { secret } = await added("b");
    expect(await own.find({ task: { group: "b" } })).toMatchObject({ secrets: [secret] });
    expect(await own.find({ task: { group: "c" } })).toBeUndefined();
    expect(await own.find({ task: {} })).toBeUndefined();
  });
});

test("calls at the same time change endpoints one after the other", async () => {
  await Promise.all(["a", "b", "c", "d"].map((id) => added(id)));
  await Promise.all([
    endpoints().change("a", { maxWorking: 1 }),
    endpoints().change("a", { description: "x" }),
    endpoints().rotate("a"),
  ]);
  const { endpoints: all } = await endpoints().list();
  expect(all.map(({ id }) => id)).toEqual(["a", "b", "c", "d"]);
  expect(all[0]).toMatchObject({ maxWorking: 1, description: "x" });
  expect(all[0]?.secrets).toHaveLength(2);
});

test("settings of an earlier change that reach the group later are replaced by those of the last one", async () => {
  await added("acme");
  let isFirst = true;
  const overtaken: Transport = {
    async send(commands, options) {
      if (isFirst && commands.some((one) => "script" in one && one.script.name === "configure")) {
        isFirst = false;
        await endpoints().change("acme", { maxWorking: 2 });
      }
      return rig.transport.send(commands, options);
    },
  };
  await endpoints({ transport: overtaken }).change("acme", { maxWorking: 1 });
  expect(await endpoints().get("acme")).toMatchObject({ maxWorking: 2 });
  expect(await rig.operator().groupSettings("acme")).toMatchObject({ maxWorking: 2 });
});

test("a late copy of a call does not bring a removed endpoint back (law 5)", async () => {
  const sent: Parameters<Transport["send"]>[0][] = [];
  const noting: Transport = {
    send: (commands, options) => (sent.push(commands), rig.transport.send(commands, options)),
  };
  await endpoints({ transport: noting }).add({ id: "acme", url });
  await endpoints().remove("acme");
  for (const commands of sent) await rig.transport.send(commands);
  expect(await endpoints().list()).toEqual({ endpoints: [], cursor: null });
});
