import { beforeEach, expect, test, vi } from "vitest";
import type { Transport } from "../../../src/kernel/transport.ts";
import { Endpoints } from "../../../src/open/endpoints/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Reports of deliveries that are sent again, or of which no reply comes.

const rig = useRig();
let own: Endpoints;

const endpoints = (transport: Transport = rig.transport) =>
  new Endpoints(QUEUE, { transport, now: () => rig.now });

beforeEach(async () => {
  own = endpoints();
  await own.add({ id: "acme", url: "https://acme.example" });
});

const fail = (by = own, tools?: object) =>
  by.report({ ok: false, gone: false }, { task: { group: "acme" }, tools });
const state = async () => (await endpoints().get("acme"))?.state;

/** A transport whose reports are sent by a function. */
const reportingBy = (report: Transport["send"]): Transport => ({
  send: (commands, options) => {
    const isReport = commands.some((one) => "script" in one && one.script.name === "reportDeliveries");
    return (isReport ? report : rig.transport.send.bind(rig.transport))(commands, options);
  },
});

/** Another instance whose report arrives twice, with something in between. */
const repeating = (between: () => Promise<unknown>) =>
  endpoints(
    reportingBy(async (...report) => {
      await rig.transport.send(...report);
      await between();
      return rig.transport.send(...report);
    }),
  );

test("a report that is sent again counts once, also if others came between", async () => {
  await fail(repeating(async () => [await fail(), await fail()]));
  await fail();
  expect(await state()).toBe("failing");
  // It opens the circuit, and does what follows from that, though it learns it only from its repeat.
  await fail(repeating(() => fail()));
  expect(await rig.operator().groupSettings("acme")).toMatchObject({ paused: true, maxWorking: 1 });
});

test("the last eight reports are remembered", async () => {
  for (let i = 0; i < 9; i++) await fail();
  const stored = await rig.transport.send([["HGET", "sluice:endpoints", ".acme"]]);
  expect(JSON.stringify(stored).match(/ \w+:/g)).toHaveLength(8);
});

test("no delivery of an invocation waits for a report of another one", async () => {
  let sent = 0;
  const shared = endpoints(
    reportingBy((...report) => {
      sent += 1;
      // The first invocation has ended, and with it what it has sent.
      return sent === 1 ? new Promise(() => {}) : rig.transport.send(...report);
    }),
  );
  void fail(shared, {});
  await vi.waitUntil(() => sent === 1);
  const tools = {};
  await Promise.all([fail(shared, tools), fail(shared, tools), fail(shared)]);
  expect(sent).toBe(4);
  expect(await state()).toBe("failing");
});
