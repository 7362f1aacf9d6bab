import { beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { sluice, type ServiceOptions } from "../../../serverless/cloudflare.ts";
import { encryption } from "../../../src/features/encryption/aes-gcm.ts";
import { push } from "../../../src/features/push/index.ts";
import { defineEndpoints, type EndpointInfo, Endpoints } from "../../../src/http/endpoints/index.ts";
import { defineQueue, drain } from "../../../src/index.ts";
import { order } from "../../../src/open/order/index.ts";
import { testDeployment } from "../../../src/testing/index.ts";
import { Webhook } from "standardwebhooks";
import { QUEUE, useRig } from "../../support/rig.ts";
import { startReceiver } from "../push/receiver.ts";

// Events on their way to real receivers: with a deployment in the test double, and with a drain over a real Redis.

beforeEach(() => {
  for (const level of ["error", "warn", "info"] as const)
    vi.spyOn(console, level).mockImplementation(() => {});
  return () => vi.restoreAllMocks();
});

const policy = { allowPrivate: ["127.0.0.1"] };

describe("a deployment", () => {
  const mails = defineQueue<string>("mails");
  const deliveries = defineQueue("hooks", { backoff: { base: "10s", factor: 1, most: "10s" } });
  const mailed: string[] = [];
  const disabled: EndpointInfo[] = [];
  const endpoints = defineEndpoints({
    queue: deliveries,
    policy,
    async onEndpointDisabled(endpoint, { queue }) {
      disabled.push(endpoint);
      await queue(mails).enqueue(`${endpoint.id} is disabled`);
    },
  });

  const options: ServiceOptions = {
    endpoints,
    order,
    consumers: [
      deliveries.consumer(push({ endpoints, ...policy })),
      mails.consumer(({ payload }) => void mailed.push(payload)),
    ],
    async fetch(request, tools) {
      return Response.json(await endpoints.in(tools).send(await request.json()));
    },
  };

  const start = (given = options) => {
    mailed.length = 0;
    disabled.length = 0;
    const deployed = testDeployment(sluice(given));
    const call = async (method: string, path: string, body?: unknown) => {
      const response = await deployed.fetch(`/v1/endpoints${path}`, {
        method,
        headers: { authorization: `Bearer ${deployed.token}`, "content-type": "application/json" },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      return response.json();
    };
    const send = async (event: object) => {
      const response = await deployed.fetch("/events", { method: "POST", body: JSON.stringify(event) });
      return response.json();
    };
    return { deployed, call, send };
  };

  test("delivers an event to all, signed with all valid secrets, and a dead endpoint delays no other", async () => {
    const { deployed, call, send } = start();
    const [good, dead] = [
      await startReceiver(),
      await startReceiver(...Array.from({ length: 50 }, () => 500)),
    ];
    const first = await call("POST", "", { id: "good", url: good.url, headers: { "x-tenant": "7" } });
    await call("POST", "", { id: "dead", url: dead.url });
    const second = await call("POST", "/good/rotate");
    for (let i = 0; i < 8; i++) await send({ id: `e${i}`, type: "orders.paid", payload: { order: i } });
    expect(good.requests.map(({ body }) => JSON.parse(body).order)).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const { secret } of [first, second]) {
      for (const { headers, body } of good.requests)
        expect(new Webhook(secret).verify(body, headers)).toMatchObject({ order: expect.any(Number) });
    }
    expect(good.requests[0]?.headers).toMatchObject({ "webhook-id": "e0.{good}", "x-tenant": "7" });
    // The circuit has opened after five failures.
    expect(dead.requests).toHaveLength(5);
    expect(await call("GET", "/dead")).toMatchObject({ state: "open" });
    expect(await call("GET", "/good")).toMatchObject({ state: "active" });
    await deployed.advance("29s");
    expect(dead.requests).toHaveLength(5);
    dead.answers.length = 0;
    await deployed.advance("10m");
    expect(await call("GET", "/dead")).toMatchObject({ state: "active" });
    expect(new Set(dead.requests.map(({ headers }) => headers["webhook-id"])).size).toBe(8);
    expect(await deployed.deadLetters(deliveries)).toEqual([]);
  });

  test("disables an endpoint that is gone, says so, and delivers what it missed when it is back", async () => {
    const { deployed, call, send } = start();
    const receiver = await startReceiver(410);
    await call("POST", "", { id: "acme", url: receiver.url });
    const since = deployed.now;
    await send({ id: "e0", type: "t", payload: 0 });
    expect(disabled).toMatchObject([{ id: "acme", disabledReason: "gone" }]);
    expect(mailed).toEqual(["acme is disabled"]);
    await send({ id: "e1", type: "t", payload: 1 });
    expect(receiver.requests).toHaveLength(1);
    expect(await deployed.deadLetters(deliveries)).toHaveLength(2);
    await call("POST", "/acme/enable");
    expect(await call("POST", "/acme/replay", { since })).toMatchObject({ replayed: 2 });
    await deployed.advance("1m");
    expect(receiver.requests.slice(1).map(({ headers }) => headers["webhook-id"])).toEqual([
      "e0.{acme}",
      "e1.{acme}",
    ]);
  });

  test("keeps the order of an endpoint that is strict", async () => {
    const { deployed, call, send } = start();
    const receiver = await startReceiver(500, 200, 503);
    await call("POST", "", { id: "acme", url: receiver.url, order: "strict" });
    for (let i = 0; i < 3; i++) await send({ id: `e${i}`, type: "t", payload: i });
    await deployed.advance("5m");
    expect(receiver.requests.map(({ body }) => body)).toEqual(["0", "0", "1", "1", "2"]);
  });

  test("keeps secrets and events encrypted, if the queue is, also those of requests", async () => {
    const key = { keys: { a: new Uint8Array(32).fill(1) }, current: "a" };
    const sealed = defineQueue("hooks", { encryption: () => encryption(key) });
    const own = defineEndpoints({ queue: sealed, policy });
    const consumers = [sealed.consumer(push({ endpoints: own, ...policy }))];
    const { deployed, call } = start({ endpoints: own, order, consumers });
    const receiver = await startReceiver();
    const { secret } = await call("POST", "", { id: "acme", url: receiver.url });
    await call("POST", "/send", { type: "t", payload: "hidden" });
    const { headers, body } = receiver.requests[0] ?? {};
    expect(new Webhook(secret).verify(body ?? "", headers ?? {})).toBe("hidden");
    const outcomes = await deployed.transport.send([["HGET", "sluice:endpoints", "acme"]]);
    expect(JSON.stringify(outcomes)).not.toContain(secret.slice(6, 30));
    expect(JSON.stringify(outcomes)).toContain("sealed");
  });

  test("without endpoints says which option they need", () => {
    expect(() => endpoints.in({})).toThrow("sluice({ endpoints })");
    expect(() => defineEndpoints({ circuits: {} } as never)).toThrow("circuits is an unknown option");
  });
});

describe("a drain", () => {
  const rig = useRig();

  test("delivers events, and reports what became of them", async () => {
    const receiver = await startReceiver(500);
    const endpoints = new Endpoints(QUEUE, { transport: rig.transport, now: () => rig.now, policy });
    await endpoints.add({ id: "acme", url: receiver.url });
    await endpoints.send({ type: "t", payload: 1 });
    const handler = push({ endpoints, ...policy });
    const tools = undefined as never;
    const run = () =>
      drain(rig.queue(), (task) => handler(task, {}, tools), { budget: "5s", backoff: () => 1_000 });
    onTestFinished(() => receiver.answers.splice(0).length as never);
    await run();
    expect(await endpoints.get("acme")).toMatchObject({ state: "failing" });
    rig.now += 1_000;
    await rig.sweepOnce();
    await run();
    expect(await endpoints.get("acme")).toMatchObject({ state: "active" });
    expect(receiver.requests).toHaveLength(2);
  });
});
