export { addTogether } from "./adds.ts";
export { joinInFlight } from "./in-flight.ts";
export { settleTogether } from "./settles.ts";
export { sendTogether } from "./shared-call.ts";
export { takeTogether } from "./takes.ts";
