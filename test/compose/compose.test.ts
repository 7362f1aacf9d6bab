import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { useRig } from "../support/rig.ts";
import { useTraces } from "../features/tracing/traces.ts";
import { features } from "./features.ts";
import type { Front } from "./front.ts";
import { fronts } from "./fronts.ts";
import { table } from "./table.ts";

const rig = useRig();
const traces = useTraces();
let front: Front | undefined;

beforeEach(() => void vi.spyOn(console, "info").mockImplementation(() => {}));
afterEach(async () => {
  await front?.stop();
  front = undefined;
  vi.restoreAllMocks();
});

describe.each(table)("%s", (feature, names) => {
  test.each(names)("through %s", async (name) => {
    const { given, run } = features[feature](traces);
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    front = await fronts[name](rig, given);
    await run(front);
    expect(errors.mock.calls).toEqual([]);
  });
});
