import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from "vitest";
import { startGateway, type Fault, type Gateway } from "../../src/local/index.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { day, run, togetherDay } from "../support/day.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

describe.each([
  ["a queue's day", day],
  ["a day of calls that share requests", togetherDay],
])("%s comes out the same over HTTP, with a fault of the network at any one request", (_, scenario) => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await startGateway({ redisUrl: rig.redis.url });
  });
  afterAll(() => gateway.close());

  const faults: Fault[] = [{ kind: "lose-reply" }, { kind: "duplicate", answer: "second" }];

  test.each(faults.map((fault) => [JSON.stringify(fault), fault] as const))("%s", async (__, fault) => {
    const retry = { firstWait: 1, longestWait: 1 };
    const over = upstash({ url: gateway.url, token: gateway.token }, { retry });
    const expected = await run(rig, scenario, undefined, over);
    for (let nth = 1; nth <= expected.requests; nth++) {
      const handle = gateway.faults.add({ ...fault, match: { nth } });
      const actual = await run(rig, scenario, undefined, over);
      expect({ nth, hits: handle.hits, ...actual }).toEqual({ nth, hits: 1, ...expected });
      handle.remove();
    }
  });
});
