/** Ends what waits for a queue that was deleted by force. */
import { dividedSince } from "../../kernel/linked/divided-since.ts";
import { shardNamed, type Link } from "../../kernel/linked/link.ts";
import type { SendOptions } from "../../kernel/transport.ts";
import type { Findings } from "../../sweep/deep-part.ts";
import { endHomeless } from "./homeless-nodes.ts";
import { repairFlow } from "./repair-flow.ts";

/** It is known what is lost. */
const UNREPORTED: Findings = { checked: () => undefined, found: () => undefined };

/**
 * @param member of the outbox of the deleted queue: `l`, a flow has lost the nodes that it had there, and the home of the
 *   flow; `h`, the home was there, and a partition that has other nodes of the flow
 */
export async function endLost(link: Link, member: string, options: SendOptions): Promise<void> {
  const [, flow = "", what = "", name = ""] = /^~x:flow\{(.*)\} !([lh]) (.*)$/.exec(member) ?? [];
  const transport = dividedSince(link.transport, () => true);
  const shard = shardNamed({ ...link, transport }, name);
  if (what === "l") await repairFlow(shard, flow, UNREPORTED, options);
  else await endHomeless(shard, new Set(), UNREPORTED, options);
}
