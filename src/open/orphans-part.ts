import type { SweepPart } from "../sweep/part.ts";
import type { PlacesOf } from "../kernel/shard.ts";
import { checkedOffload } from "../kernel/values/offload.ts";

/** Loaded when an object may have to be removed. */
export const placesOf: PlacesOf = async (...args) =>
  (await import("../features/partitions/stored-maps.ts")).placesOf(...args);

/** At the end of a sweep of all queues with `offload`, removes objects that no task needs any more. */
export const orphansPart: SweepPart = ({ transport, options, only, deadline }) => {
  const offload = checkedOffload(options.offload);
  if (!offload || only !== undefined) return {};
  const { prefix, signal, now } = options;
  return {
    finish: async () => ({
      objects: await offload.removeOrphans({ transport, prefix, signal, now, placesOf, until: deadline }),
    }),
  };
};
