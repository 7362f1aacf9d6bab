import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { useRig } from "../support/rig.ts";
import { useTraces } from "../tracing/traces.ts";
import type { Feature } from "./feature.ts";
import { encryption } from "./features/encryption.ts";
import { groups } from "./features/groups.ts";
import { maxWorking, rate } from "./features/limits.ts";
import { offload } from "./features/offload.ts";
import { partitions } from "./features/partitions.ts";
import { prefix } from "./features/prefix.ts";
import { schedules } from "./features/schedules.ts";
import { tracing } from "./features/tracing.ts";
import { wake } from "./features/wake.ts";
import type { Front, StartFront } from "./front.ts";
import { client } from "./fronts/client.ts";
import { commandLine } from "./fronts/command-line.ts";
import { deployment } from "./fronts/deployment.ts";
import { http } from "./fronts/http.ts";
import { library } from "./fronts/library.ts";
import { testDouble } from "./fronts/test-double.ts";
import { featureNames, type FeatureName, frontNames, type FrontName, table } from "./table.ts";

const features: Readonly<Record<FeatureName, Feature>> = {
  partitions,
  encryption,
  offload,
  groups,
  maxWorking,
  rate,
  schedules,
  wake,
  tracing,
  prefix,
};

const fronts: Readonly<Record<FrontName, StartFront>> = {
  library,
  http,
  client,
  cloudflare: deployment("cloudflare"),
  vercel: deployment("vercel"),
  lambda: deployment("lambda"),
  netlify: deployment("netlify"),
  node: deployment("node"),
  deno: deployment("deno"),
  bun: deployment("bun"),
  testDouble,
  commandLine,
};

const rig = useRig();
const traces = useTraces();
let front: Front | undefined;

beforeEach(() => void vi.spyOn(console, "log").mockImplementation(() => {}));
afterEach(async () => {
  await front?.stop();
  front = undefined;
  vi.restoreAllMocks();
});

describe.each(featureNames)("%s", (feature) => {
  const testedThrough = frontNames.filter((name) => table[feature][name] === "runs");
  test.each(testedThrough)("through %s", { timeout: 30_000 }, async (name) => {
    const { given, run } = features[feature](traces);
    const errors = vi.spyOn(console, "error").mockImplementation(() => {});
    front = await fronts[name](rig, given);
    await run(front);
    expect(errors.mock.calls).toEqual([]);
  });
});
