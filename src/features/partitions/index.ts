export { databases, type DatabasesTransport } from "./databases.ts";
export { discover, discoverForAdds } from "./discovery.ts";
export type { MaybeDivided } from "./divided.ts";
export type { PartitionInfo, QueuePartitions } from "./operate.ts";
export { partitionCount } from "./partition-count.ts";
export { sharingLimits } from "./share-limits.ts";
