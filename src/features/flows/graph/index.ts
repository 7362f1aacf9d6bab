/** The graph of a flow, for those who show it. It needs nothing of Redis. */
export { drawFlow } from "./draw/draw-flow.ts";
export { eachEdge } from "./layers.ts";
export { layoutSteps } from "./layout-flow.ts";
export { reportGraph } from "./report-graph.ts";
