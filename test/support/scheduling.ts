import { expect } from "vitest";
import { Schedules } from "../../src/index.ts";
import { instances } from "./instances.ts";
import { QUEUE, START, type Rig } from "./rig.ts";

export const MINUTE = 60_000;
/** START is 20 s after the start of a minute. */
export const FIRST = START + 40_000;
export const minutely = { cron: "* * * * *", payload: 1 } as const;

/** The functions that tests of schedules share. */
export function scheduling(rig: Rig) {
  const { run, ...rest } = instances(rig);
  return {
    ...rest,
    run,

    schedules: (queue = QUEUE) => new Schedules(queue, { transport: rig.transport, now: () => rig.now }),

    /** Sweeps at a time, minutes after the first minute. */
    sweepAt: (minute: number, transport = rig.transport) => {
      rig.now = FIRST + minute * MINUTE;
      return run(transport);
    },

    reminder: async (queue = QUEUE) => {
      const score = await rig.command("ZSCORE", "sluice:queues", `~${queue}`);
      return score === null ? null : Number(score);
    },

    /** The times of the pending occurrences, oldest first, minutes after the first minute. */
    waiting: async (name = "x") =>
      (await rig.space()).pending.toReversed().map((id) => {
        expect(id).toMatch(new RegExp(`^${name}\\.\\d{13}$`));
        return (Number(id.slice(name.length + 1)) - FIRST) / MINUTE;
      }),
  };
}
