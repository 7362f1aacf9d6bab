import { afterEach, expect, test } from "vitest";
import { roomFor } from "../support/no-room.ts";
import { useRig } from "../support/rig.ts";
import { alerting } from "./rig.ts";

const rig = useRig();
const rules = [{ when: { pending: { above: 0 } } }];

afterEach(() => rig.command("CONFIG", "SET", "maxmemory", "0"));

test("in a full Redis an alert fires once, and is resolved once", async () => {
  const { minutes, news } = alerting(rig, rules);
  await minutes(1);
  await rig.queue().enqueue(1);
  await rig.command("CONFIG", "SET", "maxmemory", "1");
  await expect(rig.command("SET", "more", "data")).rejects.toThrow(/OOM/);
  await minutes(3);
  expect(news()).toEqual(["fires emails"]);
  await (await rig.queue().dequeue())[0]?.complete();
  await minutes(3);
  expect(news()).toEqual(["resolved emails"]);
});

test("in a Redis that refuses each write nothing is sent, the log says why, and the alert fires later", async () => {
  const full = alerting(rig, rules, { transport: roomFor(rig.transport, 0) });
  await rig.queue().enqueue(1);
  await full.minutes(2);
  expect(full.news()).toEqual([]);
  const refused = { failed: expect.stringContaining("OOM") };
  expect(full.lines).toMatchObject([refused, refused]);
  expect(await rig.command("EXISTS", "sluice:alerts")).toBe(0);
  const { minutes, news } = alerting(rig, rules);
  await minutes(2);
  expect(news()).toEqual(["fires emails"]);
});
