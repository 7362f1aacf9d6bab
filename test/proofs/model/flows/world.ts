import type { Real } from "../real.ts";
import { World } from "../world.ts";
import { Flows } from "./flows.ts";
import { QUEUES } from "./state.ts";

/** After sweeps nothing is left to be notified, and flows that have ended are forgotten. */
export async function emptyOutboxes(real: Real, world: World): Promise<void> {
  for (const ms of [0, 4_000_000, 4_000_000]) {
    world.now += ms;
    await world.call(real, { does: "sweep", limit: 1_000, waker: false, once: false }, 0, "none");
  }
  const left = QUEUES.flatMap((name) => world.flows?.entriesOf(name) ?? []);
  if (left.length > 0) throw new Error(`left after a sweep: ${left.map(({ member }) => member).join(", ")}`);
}

/** The model of a queue, and of another one, with flows over both. */
export function worldOfFlows(now: number): World {
  const [one, other] = QUEUES;
  const [world, beside] = [new World(now, one), new World(now, other)];
  const flows = new Flows(
    new Map([
      [one, world.queue],
      [other, beside.queue],
    ]),
  );
  Object.assign(world, { flows, beside });
  Object.assign(beside, { flows, beside: world });
  return world;
}
