import { expect, test } from "vitest";
import { putRecords, readRecords } from "../../src/alerts/records.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
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
