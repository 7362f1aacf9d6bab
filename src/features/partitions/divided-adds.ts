import type { Adds } from "../../kernel/store.ts";
import type { Divided } from "./divided.ts";
import { partitionedAdds } from "./partitioned-adds.ts";
import { Partitions } from "./partitions.ts";

/** A queue with partitions, for those that do not consume it. */
export function dividedAdds(plain: Adds, wanted: number | undefined): Divided<Adds> {
  const partitions = new Partitions(plain.queue, wanted);
  return { partitions, store: partitionedAdds(plain, partitions) };
}
