import { expect } from "vitest";
import { Schedules, sweep } from "../../src/index.ts";
import { QUEUE, START, type Rig } from "./rig.ts";

export const MINUTE = 60_000;
/** START is 20 s after the start of a minute. */
export const FIRST = START + 40_000;
export const minutely = { cron: "* * * * *", payload: 1 } as const;

/** The functions that tests of schedules share. */
export const scheduling = (rig: Rig) => ({
  schedules: (queue = QUEUE) => new Schedules(queue, { transport: rig.transport, now: () => rig.now }),

  run: (options: Parameters<typeof sweep>[1] = {}, transport = rig.transport) =>
    sweep(transport, { now: () => rig.now, ...options }),

  reminder: async (queue = QUEUE) => {
    const score = await rig.command("ZSCORE", "sluice:queues", `~${queue}`);
    return score === null ? null : Number(score);
  },

  /** The times of the pending occurrences, oldest first, ms after the first minute. */
  waiting: async (name = "x") =>
    (await rig.space()).pending.toReversed().map((id) => {
      expect(id).toMatch(new RegExp(`^${name}\\.\\d{13}$`));
      return Number(id.slice(name.length + 1)) - FIRST;
    }),
});
