/** How flows and their nodes are named. */

/** The score of blocked tasks in `delayed`, and of the outbox in `expiry`: no clock gets there. */
export const NEVER_DUE = "4503599627370495";

/** The number of the flow as a whole. */
export const ROOT = "flow";

/** The id of a node. All nodes of a flow have one tag, so that each queue has them in one partition. */
export const nodeId = (flow: string, number: number | string) => `${number}{${flow}}`;

/** Most characters of the id of a flow, so that ids of its nodes have at most 128: those added later have 16 before it. */
export const MAX_FLOW_ID = 110;

/** The id of the flow as a whole, in its home. */
export const rootOf = (flow: string) => nodeId(flow, ROOT);

/** The flow of a node. */
export const flowOf = (id: string) => id.slice(id.indexOf("{") + 1, id.lastIndexOf("}"));

/** The control field of the home that says which fields have the layout of a flow. */
export const layoutField = (flow: string) => `~F:${flow}`;

/** The control field, in the partition of a task, that says what it waits for: JSON, a list of {@link Predecessor}. */
export const predecessorsField = (id: string) => `~p:${id}`;

/** A task or an inner flow that a task waits for: its ref, its number, and the partition that it is in. */
export type Predecessor = readonly [ref: string, number: string, shard: string];
