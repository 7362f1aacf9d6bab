import type { SweepPart } from "../sweep/part.ts";
import { checkedOffload } from "../kernel/values/offload.ts";

/** At the end of a sweep of all queues with `offload`, removes objects that no task needs any more. */
export const orphansPart: SweepPart = ({ transport, options, only, deadline }) => {
  const offload = checkedOffload(options.offload);
  if (!offload || only !== undefined) return {};
  const { prefix, signal, now } = options;
  return {
    finish: async () => ({
      objects: await offload.removeOrphans({ transport, prefix, signal, now, until: deadline }),
    }),
  };
};
