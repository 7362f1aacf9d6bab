import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startGateway, type Fault, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { day, run, sharedDay } from "../support/day.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
let gateway: Gateway;
beforeAll(async () => {
  gateway = await startGateway({ redisUrl: rig.redis.url });
});
afterEach(() => vi.restoreAllMocks());
afterAll(() => gateway.close());

const scenarios = [
  ["a queue's day", day],
  ["a day of groups, limits, keys and workers", sharedDay],
] as const;

/** The faults: how often each strikes, and how many requests apart it begins. */
const faults: readonly (readonly [name: string, fault: Fault, times: 1 | "always", step: number])[] = [
  ["Redis answers NOSCRIPT to any one request", { kind: "noscript" }, 1, 1],
  [
    "Redis forgets all scripts before each command from some request on",
    { kind: "flush-scripts" },
    "always",
    5,
  ],
];

describe.each(scenarios)("%s comes out the same, answers and key space,", (_, scenario) => {
  test.each(faults)("if %s", async (_name, fault, times, step) => {
    const over = upstash({ url: gateway.url, token: gateway.token });
    const expected = await run(rig, scenario, undefined, over);
    for (let nth = 1; nth <= expected.requests; nth += step) {
      const handle = gateway.faults.add({ ...fault, match: { nth, times } });
      expect({ nth, ...(await run(rig, scenario, undefined, over)) }).toEqual({ nth, ...expected });
      expect(handle.hits).toBeGreaterThan(0);
      handle.remove();
    }
  });
});
