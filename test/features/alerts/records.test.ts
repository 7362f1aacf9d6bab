import { afterEach, expect, test } from "vitest";
import { putRecords, readRecords } from "../../../src/features/alerts/records.ts";
import { roomFor } from "../../support/no-room.ts";
import { useRig } from "../../support/rig.ts";
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

const context = () => ({ transport: rig.transport, prefix: undefined, budget: 1_000, log: () => {} });

test("a record that another pass has changed stays, and the caller learns of it (I3)", async () => {
  await rig.command("HSET", "sluice:alerts", "a", "1;{}", "b", "1;other", "c", "1;new");
  const changes = [
    { field: "a", was: "1;{}", record: "1;next" },
    { field: "b", was: "1;{}", record: "1;next" },
    { field: "none", was: "", record: "1;first" },
    { field: "a-late", was: "1;{}", record: "1;next" },
    { field: "b", was: "1;{}", record: "" },
  ];
  expect(await putRecords(changes, context())).toEqual([true, false, true, false, false]);
  const fields = ["a", "b", "none", "a-late", "c"];
  expect(Object.fromEntries(await readRecords(fields, context()))).toEqual({
    a: "1;next",
    b: "1;other",
    none: "1;first",
    c: "1;new",
  });
});

test("more records than one command takes are read and written", async () => {
  const changes = Array.from({ length: 1_201 }, (_, i) => ({ field: `q${i}`, was: "", record: `1;${i}` }));
  expect(await putRecords(changes, context())).toEqual(changes.map(() => true));
  const found = await readRecords([...changes.map(({ field }) => field), "none"], context());
  expect([...found]).toEqual(changes.map(({ field, record }) => [field, record]));
});
