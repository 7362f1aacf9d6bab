import { beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { checkedCircuit } from "../../../src/features/endpoints/index.ts";
import * as scripts from "../../../src/features/endpoints/endpoint-scripts.ts";
import { Endpoints } from "../../../src/open/endpoints/index.ts";
import { endpointsKey } from "../../../src/kernel/names/keys.ts";
import { run, scriptCall } from "../../../src/kernel/call.ts";
import { Queue } from "../../../src/index.ts";
import { useBilled } from "../../support/billed.ts";

// What endpoints cost: the figures of docs/costs.md and lua/README.md.

const billed = useBilled();
const keys = { endpoints: endpointsKey() };
let now = 1_700_000_000_000;
let endpoints: Endpoints;

beforeEach(async () => {
  const errors = vi.spyOn(console, "error").mockImplementation(() => {});
  onTestFinished(() => errors.mockRestore());
  now = 1_700_000_000_000;
  endpoints = new Endpoints(billed.queue.name, { transport: billed.transport, now: () => now });
  for (const id of ["a", "b"]) await endpoints.add({ id, url: `https://${id}.example` });
});

/** Scripts do not read Redis's time here. */
const TIME = 1;
const REPORT = 4 - TIME;

const task = { group: "a" };
const tools = {};
const deliver = async (ok: boolean) => {
  await endpoints.find({ task });
  await endpoints.report({ ok, gone: false }, { task, tools });
};

test("a healthy endpoint costs no command, except one every ten seconds, and one more if endpoints have changed", async () => {
  await deliver(true);
  expect(await billed.cost(() => deliver(true))).toBe(0);
  now += 10_000;
  expect(await billed.cost(() => deliver(true))).toBe(1);
  expect(await billed.cost(() => deliver(true))).toBe(0);
  const other = { send: billed.transport.send.bind(billed.transport) };
  await new Endpoints(billed.queue.name, { transport: other }).change("b", { description: "x" });
  now += 10_000;
  expect(await billed.cost(() => deliver(true))).toBe(2);
});

test("an event costs as much as an enqueue of its deliveries", async () => {
  const send = (i: number) => endpoints.send({ type: "t", payload: i });
  await send(0);
  const cost = await billed.cost(() => send(1));
  const queue = new Queue(billed.queue.name, { transport: billed.transport, now: () => now });
  const enqueued = await billed.cost(() =>
    queue.enqueueMany(["a", "b"].map((group) => ({ payload: 1, id: `1.{${group}}`, group }))),
  );
  expect(cost).toBe(enqueued);
});

test("a failure costs 4, and 1 to read the endpoints again if it is the first; so does the first success", async () => {
  await deliver(true);
  expect(await billed.cost(() => deliver(false))).toBe(REPORT);
  expect(await billed.cost(() => deliver(false))).toBe(1 + REPORT);
  expect(await billed.cost(() => deliver(false))).toBe(REPORT);
  expect(await billed.cost(() => deliver(true))).toBe(REPORT);
  expect(await billed.cost(() => deliver(true))).toBe(1);
  expect(await billed.cost(() => deliver(true))).toBe(0);
});

test("failures at the same time share two reports", async () => {
  await deliver(true);
  expect(await billed.cost(() => Promise.all([1, 2, 3, 4].map(() => deliver(false))))).toBeLessThanOrEqual(
    2 * REPORT + 1,
  );
});

test("to open a circuit costs at most 20 more, and an upkeep 1", async () => {
  for (let i = 0; i < 4; i++) await deliver(false);
  const cost = await billed.cost(() => deliver(false));
  expect(cost).toBeGreaterThan(REPORT);
  expect(cost).toBeLessThanOrEqual(REPORT + 20);
  await endpoints.upkeep();
  expect(await billed.cost(() => endpoints.upkeep())).toBe(0);
  now += 10_000;
  expect(await billed.cost(() => endpoints.upkeep())).toBe(1);
});

test("the scripts cost what lua/README.md says", async () => {
  const put = (args: { id: string; version: string; record: string; state?: string }) =>
    billed.cost(() =>
      run(
        billed.transport,
        scriptCall(scripts.putEndpointScript, keys, { testNow: "1", state: "", most: "1000", ...args }),
      ),
    );
  expect(await put({ id: "c", version: "2", record: "1;{}" })).toBe(5 - TIME);
  expect(await put({ id: "c", version: "2", record: "1;{}" })).toBe(2);
  expect(await put({ id: "c", version: "2", record: "1;[]" })).toBe(2);
  expect(await put({ id: "c", version: "3", record: "1;[]" })).toBe(3);
  expect(await put({ id: "c", version: "4", record: "" })).toBe(4);
  const note = (changed: string) =>
    billed.cost(() =>
      run(billed.transport, scriptCall(scripts.noteAppliedScript, keys, {}, [{ id: "a", changed }])),
    );
  expect(await note("9")).toBe(2);
  const report = (id: string) =>
    billed.cost(() =>
      run(
        billed.transport,
        scriptCall(
          scripts.reportDeliveriesScript,
          keys,
          { testNow: "", token: String(Math.random()), ...checkedCircuit() },
          [{ id, failed: "1", succeeded: "0", gone: "" }],
        ),
      ),
    );
  expect(await report("a")).toBe(4);
  expect(await report("none")).toBe(3);
});
