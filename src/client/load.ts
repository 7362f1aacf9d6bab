/** Loads what plain calls do without. */
export const onDemand = () => import("./on-demand.ts");
