/** The entry of flows: all that programs use, and the part that turns them on in a deployment or an app. */
import { linked } from "../../features/linked/index.ts";
import { flowsPart as sweepPart } from "../../features/flows/index.ts";
import type { FlowsPart } from "./part.ts";

export * from "../../features/flows/index.ts";
export type { FlowsPart } from "./part.ts";

/**
 * Flows, for the option `flows` of a deployment, an app or a sweep.
 * @example export default sluice({ flows, consumers: [report.consumer(async (task) => send(await task.before()))] });
 */
export const flows: FlowsPart = {
  linked,
  sweepPart,
  routes: async () => (await import("../routes/flows.ts")).flowRoutes,
};
