import { describe, expect, test } from "vitest";
import { Schedules, type Transport } from "../../../src/index.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { MINUTE } from "../../support/scheduling.ts";

const rig = useRig();
const schedules = <T = unknown>() =>
  new Schedules<T>(QUEUE, { transport: rig.transport, now: () => rig.now });

describe("schedules that are written at once", () => {
  test("end up in the form that one writer gave, with a reminder that is no later", async () => {
    const writers = Array.from({ length: 10 }, (_, i) => [
      schedules().put("x", { every: (i + 1) * 60_000, payload: i }),
      schedules().pause("x"),
      schedules().resume("x"),
    ]);
    await Promise.all(writers.flat());
    await schedules().resume("x");
    const found = await schedules<number>().get("x");
    expect(found).toMatchObject({ paused: false });
    if (found && "every" in found) expect(found.every).toBe((found.payload + 1) * MINUTE);
    const reminder = Number(await rig.command("ZSCORE", "sluice:queues", `~${QUEUE}`));
    expect(reminder).toBeLessThanOrEqual(found?.nextAt ?? 0);
  });

  test.each(["pause", "resume"] as const)("and put during a %s keep both changes", async (verb) => {
    await schedules().put("x", { every: "5m", payload: 1, paused: verb === "resume" });
    let requests = 0;
    const transport: Transport = {
      async send(commands, options) {
        // The schedule that the first request has read is now changed.
        if (++requests === 2) await schedules().put("x", { every: "7m", payload: 2 });
        return rig.transport.send(commands, options);
      },
    };
    const changed = await new Schedules(QUEUE, { transport, now: () => rig.now })[verb]("x");
    const both = { every: 7 * MINUTE, paused: verb === "pause" };
    expect(changed).toMatchObject({ ok: true, schedule: both });
    expect(await schedules().get("x")).toMatchObject({ ...both, payload: 2 });
  });
});
