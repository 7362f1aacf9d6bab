/** What follows when a flow has ended, or goes on. */
import { commandCall, runAll } from "../call.ts";
import { groupedBy, slicesOf } from "../slices.ts";
import type { SendOptions } from "../transport.ts";
import { readLayout } from "./flow-layout.ts";
import { type Link, shardNamed } from "./link.ts";
import { endFlowScript } from "./link-scripts.ts";
import { noteNodes } from "./node-notes.ts";

/** How long the layout of a flow is kept after its end, ms: as long as results and dead letters by default. */
const LAYOUT_KEPT_FOR = { completed: 3_600_000, failed: 604_800_000 };

/** How many nodes one call ends. */
const PER_CALL = 200;

/** From now on the records of the flow's tasks are kept for as long as each says; until its end, if it goes on. */
export async function endFlow(
  link: Link,
  home: string,
  flow: string,
  outcome: "completed" | "failed" | "open",
  options: SendOptions,
): Promise<void> {
  const shard = shardNamed(link, home);
  const layout = await readLayout(shard, flow, options);
  if (!layout) return;
  const args = { keptFor: outcome === "open" ? "" : String(LAYOUT_KEPT_FOR[outcome]) };
  const own = layout.fields.map((id) => ({ id, shard: home }));
  const ended = groupedBy([...layout.nodes, ...layout.roots, ...own], (one) => one.shard);
  const calls = Array.from(ended, ([name, ids]) =>
    slicesOf(ids, PER_CALL).map((slice) => shardNamed(link, name).call(endFlowScript, args, slice)),
  );
  // What goes on is to be found by sweeps.
  const notes =
    outcome === "open" ? Array.from(ended.keys(), (name) => noteNodes(shardNamed(link, name))) : [];
  const noted = notes.map((note) => commandCall(note, () => undefined));
  await runAll<unknown>(link.transport, [...noted, ...calls.flat()], options);
}
