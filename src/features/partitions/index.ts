export { databases, type DatabasesTransport } from "./databases.ts";
export { discover, discoverForAdds, type MaybeDivided, partitionCount } from "./discovery.ts";
export { isKnownSplit } from "./map-memory.ts";
export type { PartitionInfo, QueuePartitions } from "./operate.ts";
export { sharingLimits } from "./share-limits.ts";
