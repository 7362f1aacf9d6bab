import { describe, expect, test } from "vitest";
import type { Settled } from "../../../src/index.ts";
import { recorded, times } from "../../support/recorded.ts";
import { useRig } from "../../support/rig.ts";

// Calls that share requests with those of other instances. coalescing.test.ts has those of one turn.
const rig = useRig();

describe('"in-flight"', () => {
  test("collects calls of all instances while a request is in flight", async () => {
    const { queue, transport, requests, scripts } = recorded(rig);
    const instance = () => rig.queue({ transport, coalesce: "in-flight" });
    const loops = times(50, async (i) => {
      const own = instance();
      const ends: Settled[] = [];
      for (let n = 0; n < 4; n++) {
        await own.enqueue(i);
        const [task] = await own.dequeue();
        if (task) ends.push(await task.complete());
      }
      return ends;
    });
    const ends = (await loops).flat();
    expect(ends).toHaveLength(200);
    expect(ends.every(({ ok }) => ok)).toBe(true);
    expect(requests.length).toBeLessThan(40);
    expect(new Set(scripts().map((names) => names.at(-1)))).toEqual(
      new Set(["enqueue", "dequeue", "settle"]),
    );
    expect(await queue.counts()).toMatchObject({ pending: 0, working: 0 });
  });
});
