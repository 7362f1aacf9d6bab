import type { Adds } from "../../kernel/store.ts";
import type { MaybeDivided } from "./discovery.ts";

/** The store of a queue whose partitions share its limits. */
export function sharingLimits<S extends Adds & MaybeDivided>(next: S): S {
  const { queue } = next;
  const shareLimits: Adds["shareLimits"] = async (shards, wake, { signal }) => {
    if (!shards.some(({ isPart }) => isPart)) return false;
    const { rebalanceShares } = await import("./shares.ts");
    const places = shards.map(({ place }) => place);
    return rebalanceShares({ ...queue, signal }, places, wake);
  };
  return { ...next, shareLimits };
}
