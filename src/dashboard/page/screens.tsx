/** What is not in the first file of the page: see more.tsx. */
export { EndpointsScreen } from "./endpoints/endpoints.tsx";
export { FlowScreen } from "./flows/flow.tsx";
export { WaitsFor } from "./flows/waits-for.tsx";
export { CostsScreen } from "./queues/costs.tsx";
export { Groups } from "./queues/groups.tsx";
export { Partitions } from "./queues/partitions.tsx";
export { Schedules } from "./queues/schedules.tsx";
export { Workers } from "./queues/workers.tsx";
export { SearchScreen } from "./search/search.tsx";
