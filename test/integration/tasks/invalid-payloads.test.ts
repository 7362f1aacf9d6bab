import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";
import { useRig } from "../../support/rig.ts";

const rig = useRig();

test("a payload that does not fit is rejected alone, also if the schema's message is long", async () => {
  // The message of valibot quotes the payload.
  const schema = v.pipe(v.string(), v.picklist(["fits"]));
  const long = "x".repeat(100_000);
  await rig.queue().enqueueMany([
    { payload: long, id: "long" },
    { payload: "short", id: "short" },
  ]);
  expect(await rig.queue({ schema }).dequeue({ max: 10 })).toHaveLength(0);
  expect(await rig.queue().counts()).toMatchObject({ working: 0, rejected: 2 });
  const { error } = (await rig.queue().get("long"))!;
  const { issues } = error as { issues: { message: string }[] };
  expect(issues[0]?.message).toMatch(/^.*"x+…$/);
});

test("it is rejected also with a long path and with control characters in path and message", async () => {
  const worst = "\u0001".repeat(10_000);
  const issues = Array.from({ length: 20 }, () => ({ message: worst, path: [worst, { key: worst }] }));
  const schema = { "~standard": { version: 1, vendor: "test", validate: () => ({ issues }) } } as const;
  await rig.queue().enqueue(1, { id: "a" });
  expect(await rig.queue({ schema }).dequeue()).toHaveLength(0);
  expect(await rig.queue().get("a")).toMatchObject({ state: "rejected", attempt: 1 });
});

test("the error at enqueue is short too", async () => {
  const schema = z.record(z.string(), z.number("m".repeat(10_000)));
  const refused = rig.queue({ schema }).enqueue({ ["k".repeat(10_000)]: "no number" } as never);
  const message = await refused.catch((error: Error) => error.message);
  expect(message).toMatch(/^payload\.k{59}… must match the schema of the queue: m{199}…$/);
});
