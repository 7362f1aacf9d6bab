export { enqueueAndLeaseScript } from "./hand-over-script.ts";
export { HandedOver } from "./handed-over.ts";
export { addLeased } from "./add-leased.ts";
