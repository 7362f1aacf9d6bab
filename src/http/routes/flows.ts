import type { FlowRoutes } from "../flows/part.ts";

/** The routes of flows. They are loaded at the first request to `/v1/flows` or below it. */
export const flowRoutes: FlowRoutes = {
  mount() {},
};
