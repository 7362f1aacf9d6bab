import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { consoleLines } from "../support/console-lines.ts";
import { useRig } from "../support/rig.ts";
import { useTraces } from "../features/tracing/traces.ts";
import { features } from "./features/index.ts";
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
    const { given, run, logs = () => false } = features[feature](traces);
    const failures = consoleLines("warn", "error");
    front = await fronts[name](rig, given);
    await run(front);
    expect(failures.filter((line) => !logs(line))).toEqual([]);
  });
});
