export { enqueueAndLeaseScript } from "./hand-over-script.ts";
export { HandedOver } from "./handed-over.ts";
export { addLeased, MOST_LEASED } from "./add-leased.ts";
