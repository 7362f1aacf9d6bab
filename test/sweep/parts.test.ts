import { expect, test } from "vitest";
import { Queue } from "../../src/index.ts";
import type { SweepPart } from "../../src/sweep/part.ts";
import { plainSweep } from "../../src/sweep/sweep.ts";
import { schedulesPart } from "../../src/open/sweep-parts.ts";
import { recorded } from "../support/recorded.ts";
import { useRig } from "../support/rig.ts";
import { FIRST, minutely, scheduling } from "../support/scheduling.ts";

const rig = useRig();
const { schedules, reminder } = scheduling(rig);
const now = () => rig.now;
const nothing = {
  promoted: 0,
  reclaimed: 0,
  rejected: 0,
  expired: 0,
  more: false,
  scheduled: 0,
  woken: 0,
  failed: [],
};

test("without parts a sweep sweeps queues, and leaves schedules for the next one", async () => {
  await schedules().put("x", minutely);
  await rig.queue().enqueue(0, { id: "late", delay: "1m" });
  rig.now = FIRST + 60_000;
  expect(await plainSweep(rig.transport, { now }, [])).toEqual({ ...nothing, queues: 1, promoted: 1 });
  expect(await reminder()).toBe(FIRST);
  expect((await rig.space()).pending).toEqual(["late"]);
  const report = await plainSweep(rig.transport, { now }, [schedulesPart]);
  expect(report).toEqual({ ...nothing, queues: 1, scheduled: 1 });
  expect((await rig.space()).pending).toEqual([`x.${FIRST + 60_000}`, "late"]);
});

test("a part is called around the sweep of each page, and adds queues, notes and counts", async () => {
  const queue = (name: string) => new Queue(name, { transport: rig.transport, now });
  await queue("first").enqueue(0);
  await queue("second").enqueue(0, { delay: "1m" });
  // The registry does not know it.
  await queue("third").enqueue(0, { delay: "1m" });
  await rig.command("ZREM", "sluice:queues", "third");
  rig.now += 60_000;
  const calls: unknown[] = [];
  const delayed = async (name: string) => (await queue(name).counts()).delayed;
  const part: SweepPart = (sweep) => ({
    async before({ queues }) {
      calls.push(["before", queues.map(({ name }) => name).toSorted(), await delayed("second")]);
      return new Set(["third"]);
    },
    notesOf() {
      calls.push("notes");
      return [["SADD", "noted", "1"]];
    },
    async after() {
      calls.push(["after", await delayed("second"), await delayed("third")]);
      sweep.failedParts.set("first", "unsupported");
      sweep.more = true;
    },
    finish: () => ({ scheduled: 7 }),
  });
  const { transport, requests } = recorded(rig);
  const report = await plainSweep(transport, { now }, [part]);
  expect(report).toEqual({
    ...nothing,
    queues: 3,
    promoted: 2,
    more: true,
    scheduled: 7,
    failed: [{ queue: "first", code: "unsupported" }],
  });
  expect(calls).toEqual([["before", ["first", "second"], 1], "notes", ["after", 0, 0]]);
  expect(await rig.command("SMEMBERS", "noted")).toEqual(["1"]);
  // The registry and the queues; the note goes alone, because no other is due.
  expect(requests.map((commands) => commands.length)).toEqual([1, 3, 1]);
});
