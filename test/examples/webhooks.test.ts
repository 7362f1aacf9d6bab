import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { account, notAccepted, type TaskState } from "../../examples/webhooks/account.ts";
import { Deliveries, type ReceivedRequest } from "../../examples/webhooks/deliveries.ts";
import { tenants } from "../../examples/webhooks/endpoints.ts";
import { digest, eventsFile, readEvents, taskOf, type WebhookEvent } from "../../examples/webhooks/events.ts";
import { report } from "../../examples/webhooks/report.ts";
import { newSecret, signedHeaders, verify } from "../../examples/webhooks/signature.ts";
import { asLines } from "../../examples/webhooks/view.ts";
import { useFolder } from "../support/folder.ts";

const folder = useFolder();

const event = (id: string, tenant = "atlas-books"): WebhookEvent => ({
  id,
  tenant,
  type: "invoice.paid",
  createdAt: "2026-11-20T09:00:00.000Z",
  data: { invoice: `inv_${id}` },
});

function request(of: WebhookEvent, more: Partial<ReceivedRequest> = {}): ReceivedRequest {
  const body = digest(JSON.stringify(taskOf(of).body));
  return {
    receiver: of.tenant,
    event: of.id,
    attempt: 1,
    status: 204,
    by: "consumer-1.1",
    body,
    at: 0,
    ...more,
  };
}

const [a, b, c] = [event("evt_a"), event("evt_b"), event("evt_c", "ember-games")] as const;
const nothing = new Map<string, TaskState>();
const row = (events: number, once: number, again: number, dead: number, unaccounted: number) => ({
  events,
  once,
  again,
  dead,
  unaccounted,
});

test("an event that a receiver accepted once is delivered once, no matter how often it refused it before", () => {
  const refused = request(a, { status: 500 });
  const result = account([a], [refused, refused, request(a, { attempt: 3 })], nothing);
  expect(result.total).toEqual(row(1, 1, 0, 0, 0));
  expect(result.complete).toBe(true);
});

test("an event that was not accepted and is no dead letter is unaccounted for", () => {
  const refused = request(b, { status: 500 });
  const result = account([a, b], [request(a), refused], new Map([["evt_b", { state: "completed" }]]));
  expect(result.receivers.get("atlas-books")).toEqual(row(2, 1, 0, 0, 1));
  expect(result.unaccounted).toEqual([{ event: "evt_b", receiver: "atlas-books", state: "completed" }]);
  expect(result.complete).toBe(false);
  expect(report(result)).toContain("UNACCOUNTED evt_b for atlas-books: completed");
  expect(account([a], [], new Map([["evt_a", undefined]])).unaccounted).toEqual([
    { event: "evt_a", receiver: "atlas-books", state: "not found" },
  ]);
});

test("an event that was accepted again counts as a consequence of the crash only if the killed run delivered it first", () => {
  const twice = (by: string) => [request(a, { by }), request(a, { by: "consumer-3.2", attempt: 2 })];
  const afterCrash = account([a], twice("consumer-2.1"), nothing, "consumer-2.1");
  expect(afterCrash).toMatchObject({ total: row(1, 0, 1, 0, 0), afterCrash: 1, complete: true });
  const afterTimeout = account([a], twice("consumer-1.1"), nothing, "consumer-2.1");
  expect(afterTimeout).toMatchObject({ total: row(1, 0, 1, 0, 0), afterCrash: 0, complete: true });
});

test("a dead letter is accounted for, with its reason", () => {
  const states = new Map([["evt_c", { state: "rejected", reason: "attempts_exhausted" }]]);
  const result = account([a, c], [request(a)], states);
  expect([...result.receivers]).toEqual([
    ["atlas-books", row(1, 1, 0, 0, 0)],
    ["ember-games", row(1, 0, 0, 1, 0)],
  ]);
  expect(result).toMatchObject({
    total: row(2, 1, 0, 1, 0),
    reasons: { attempts_exhausted: 1 },
    complete: true,
  });
});

test("a request accepted with another body, by another receiver or for no event is unexpected and no delivery", () => {
  const unexpected = [
    request(a, { body: "0" }),
    request(a, { receiver: "ember-games" }),
    request(event("evt_x")),
  ];
  const result = account([a], unexpected, new Map([["evt_a", { state: "completed" }]]));
  expect(result).toMatchObject({ total: row(1, 0, 0, 0, 1), complete: false });
  expect(result.unexpected).toEqual(unexpected);
});

test("the queue is asked only for events that were not accepted", () => {
  expect(notAccepted([a, b, c], [request(a), request(b, { status: 410 })])).toEqual(["evt_b", "evt_c"]);
});

test("the receivers' file is read as it grows, and never half a line of it", () => {
  const file = join(folder.path, "deliveries.jsonl");
  const line = Buffer.from(`${JSON.stringify(request(event("evt_é")))}\n`);
  writeFileSync(file, line);
  const deliveries = new Deliveries(file);
  expect(deliveries.read()).toHaveLength(1);
  const half = line.indexOf(0xc3) + 1;
  appendFileSync(file, line.subarray(0, half));
  expect(deliveries.read()).toEqual([]);
  appendFileSync(file, line.subarray(half));
  expect(deliveries.read().map(({ event }) => event)).toEqual(["evt_é"]);
  expect(deliveries.all).toHaveLength(2);
});

test("the picture and the closing table fit into a terminal of 80 columns", () => {
  const count = 2_400;
  const picture = asLines({
    seconds: 100,
    events: count,
    enqueued: count,
    pending: count,
    delayed: count,
    working: count,
    deadLetters: count,
    completed: count,
    rate: 1_000,
    runs: 100,
    running: 3,
    killed: 1,
    receivers: tenants.map((tenant) => ({ tenant, accepted: count, refused: count })),
  });
  const all = row(count, count, count, count, count);
  const table = report({
    receivers: new Map(tenants.map(({ name }) => [name, all])),
    total: all,
    afterCrash: 1_000,
    reasons: { attempts_exhausted: 1_000, rejected: 1_000 },
    unaccounted: [],
    unexpected: [],
    complete: true,
  }).split("\n");
  // The last column stays free, because a terminal may wrap there.
  expect([...picture, ...table].filter((line) => line.length > 79)).toEqual([]);
  for (const { name } of tenants) expect(table.filter((line) => line.includes(name))).toHaveLength(1);
});

test("a signature holds for its secret, id, time and body, and for no other", () => {
  const secret = newSecret();
  const headers = signedHeaders(secret, "evt_a", "{}");
  expect(verify(secret, headers, "{}")).toBe(true);
  expect(verify(secret, headers, "{ }")).toBe(false);
  expect(verify(newSecret(), headers, "{}")).toBe(false);
  expect(verify(secret, { ...headers, "webhook-id": "evt_b" }, "{}")).toBe(false);
  expect(verify(secret, { ...headers, "webhook-timestamp": "1" }, "{}")).toBe(false);
  expect(verify(secret, { ...headers, "webhook-signature": undefined }, "{}")).toBe(false);
  const changing = `v1,bm8= ${headers["webhook-signature"]}`;
  expect(verify(secret, { ...headers, "webhook-signature": changing }, "{}")).toBe(true);
});

test("there are 2,400 events with unique ids, for all tenants, some delayed, in many scripts and sizes", () => {
  const events = readEvents(eventsFile);
  expect(new Set(events.map(({ id }) => id)).size).toBe(2_400);
  expect(new Set(events.map(({ tenant }) => tenant))).toEqual(new Set(tenants.map(({ name }) => name)));
  const delays = events.flatMap(({ delaySeconds }) => delaySeconds ?? []);
  expect([Math.min(...delays), Math.max(...delays)]).toEqual([1, 20]);
  expect(readFileSync(eventsFile, "utf8")).toMatch(
    /[\u{1F300}-\u{1FAFF}].*[\u0600-\u06FF].*[\u4E00-\u9FFF]/su,
  );
  expect(readEvents(eventsFile, 10)).toEqual(events.slice(0, 10));
});
