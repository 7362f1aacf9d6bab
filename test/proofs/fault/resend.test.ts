import { afterEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { startGateway, type Fault } from "../../../src/local/index.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { day, run, scheduleDay, sharedDay, togetherDay } from "../../support/day.ts";
import { START, useRig } from "../../support/rig.ts";
import { disturbed, type Disturbance } from "./copies.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

describe.each([
  ["a queue's day", day, 25],
  ["a day of groups, limits, keys and workers", sharedDay, 20],
  ["a day of calls that share requests", togetherDay, 5],
  ["a day of schedules", scheduleDay, 20],
])("%s comes out the same, answers and key space (law 5),", (_, scenario, requests) => {
  test.each<[name: string, disturbance: Disturbance]>([
    ["with the reply to any one request lost and the request sent again", "lost"],
    [
      "with the first copy of any one request running after any later request within the resend window",
      "late",
    ],
  ])("%s", async (_name, disturbance) => {
    const expected = await run(rig, scenario);
    const { transport, sent, effects } = disturbed(rig, rig.transport, disturbance);
    expect(await run(rig, scenario, transport)).toEqual(expected);
    expect(effects).toEqual([]);
    expect(sent.length).toBeGreaterThan(requests);
  });

  test.each<[name: string, fault: Fault]>([
    ["over HTTP, each request twice", { kind: "duplicate", answer: "second" }],
    ["over HTTP, with NOSCRIPT for each script", { kind: "noscript", match: { command: "EVALSHA" } }],
    ["over HTTP, with all scripts forgotten before each", { kind: "flush-scripts" }],
  ])("%s", async (_name, { match, ...fault }) => {
    const gateway = await startGateway({ redisUrl: rig.redis.url });
    onTestFinished(() => gateway.close());
    const over = upstash(gateway);
    const expected = await run(rig, scenario, over);
    const hit = gateway.faults.add({ ...fault, match: { ...match, times: "always" } });
    expect(await run(rig, scenario, over)).toEqual(expected);
    expect(hit.hits).toBeGreaterThan(requests);
  });
});

test("a day of schedules enqueues each occurrence once", async () => {
  const { answers } = await run(rig, scheduleDay);
  const [last, all] = [START + 40_000, START];
  const minute = 60_000;
  expect(answers.at(-1)).toEqual([
    [`gone.${last}`, 1],
    [`last.${last}`, 1],
    [`all.${all + minute}`, 2],
    [`last.${last + 3 * minute}`, 3],
    // Resumed in exactly that millisecond.
    ...[4, 5, 6, 7].map((minutes) => [`all.${all + minutes * minute}`, 2]),
    [`last.${last + 6 * minute}`, 3],
  ]);
});
