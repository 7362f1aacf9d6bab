/** What operators do with a flow as a whole. */
import { commandCall, runAll } from "../../kernel/call.ts";
import { dividedSince } from "../../kernel/linked/divided-since.ts";
import { type FlowLayout, readLayout } from "../../kernel/linked/flow-layout.ts";
import { rootOf } from "../../kernel/linked/flow-names.ts";
import { type Link, shardNamed } from "../../kernel/linked/link.ts";
import { cancelFlow, emptyOutbox } from "../../kernel/linked/outbox.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import type { Shard } from "../../kernel/shard.ts";
import { groupedBy, slicesOf } from "../../kernel/slices.ts";
import type { Adds } from "../../kernel/store.ts";
import { redriveScript } from "../../operate/operate-scripts.ts";

/** Opens a queue by its name. */
export type OpenAdds = (queue: string) => Adds;

export type FlowCancelled =
  /** `cancelled`: tasks that had not begun. `flagged`: tasks that work, and are asked to stop. */
  | { readonly ok: true; readonly cancelled: number; readonly flagged: number }
  | { readonly ok: false; readonly code: "not_found" };

export type FlowRedriven =
  /** How many tasks that failed wait again. What was rejected with them is blocked again, and not counted. */
  { readonly ok: true; readonly redriven: number } | { readonly ok: false; readonly code: "not_found" };

const NOT_FOUND = { ok: false, code: "not_found" } as const;

/** How many tasks one call redrives, and how many calls are one request. */
const PER_CALL = 160;
const PER_REQUEST = 16;

/** Redrives at once those that are named. */
const ALL = { dry: "", interval: "0", cursor: "", filter: "" };

/** Where a flow is; undefined if it is not known. */
export async function homeOf(open: OpenAdds, flow: string, options: RequestOptions) {
  const queue = flow.slice(flow.lastIndexOf("@") + 1);
  const store = open(queue);
  const root = rootOf(flow);
  // Not the layout: of a queue that was divided, calls on that go to its first partition.
  const call = (shard: Shard) =>
    commandCall(["HEXISTS", shard.keys.tasks, root], (reply) => (reply === 1 ? shard : undefined));
  const isUnknown = (found: Shard | undefined) => !found;
  const home = await store.find(root, call, isUnknown, options);
  return home && { store, home, link: store.queue as Link };
}

/** Cancels all tasks of a flow that have not ended. */
export async function cancelWholeFlow(
  open: OpenAdds,
  flow: string,
  options: RequestOptions,
): Promise<FlowCancelled> {
  const found = await homeOf(open, flow, options);
  if (!found) return NOT_FOUND;
  const { link, home } = found;
  // What is not added yet must not begin later.
  await emptyOutbox(link, home.name, options);
  const sum = await cancelFlow(link, home.name, flow, "a", options);
  return sum ? { ok: true, cancelled: sum.cancelled, flagged: sum.flagged } : NOT_FOUND;
}

/** Redrives all tasks of a flow that failed on their own. */
export async function redriveWholeFlow(
  open: OpenAdds,
  flow: string,
  options: RequestOptions,
): Promise<FlowRedriven> {
  const found = await homeOf(open, flow, options);
  const layout = found && (await readLayout(found.home, flow, options));
  if (!layout) return NOT_FOUND;
  const link = { ...found.link, transport: dividedSince(found.link.transport, () => true) };
  let redriven = 0;
  for (const slice of slicesOf(redriveCalls(link, open, layout), PER_REQUEST)) {
    const replies = await runAll(
      link.transport,
      slice.map(({ call }) => call),
      options,
    );
    for (const [i, { count, wake }] of replies.entries()) {
      redriven += count;
      if (wake) await slice[i]?.store.ready({ now: true });
    }
  }
  return { ok: true, redriven };
}

/** The calls that redrive what is a dead letter of its own. Other tasks stay as they are. */
function redriveCalls(link: Link, open: OpenAdds, { nodes }: FlowLayout) {
  const tasks = nodes.filter(({ kind }) => kind === "task");
  return Array.from(groupedBy(tasks, ({ shard }) => shard)).flatMap(([name, own]) => {
    const shard = shardNamed(link, name);
    const store = open(shard.queue.name);
    return slicesOf(own, PER_CALL).map((slice) => {
      const items = slice.map(({ id }) => ({ id, lease: "" }));
      const args = { ...ALL, limit: String(PER_CALL), wake: store.wakeWindow() };
      return { store, call: shard.call(redriveScript, args, items) };
    });
  });
}
