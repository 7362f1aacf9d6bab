/** Flows as lua/flows.md describes them, as plain values: nodes, their edges, and what is left to be notified. */
import type { ModelTask } from "../state.ts";

/** The queues that tasks of flows are in. The first one is that of all other calls. */
export const QUEUES = ["emails", "audits"] as const;

export type QueueName = (typeof QUEUES)[number];

/** Where blocked tasks are in `delayed`, and what is left to be notified in `expiry`; joins and gates are behind. */
export const NEVER = 4_503_599_627_370_495;
export const NEVER_DELIVERED = NEVER + 1;

/** How long records are kept while their flow has not ended, ms. */
export const UNTIL_THE_END = 315_360_000_000;

export type Outcome = "completed" | "failed" | "open";

export interface ModelEdge {
  readonly needs: "completed" | "ended" | "failed";
  /** What has become of its source. */
  state: Outcome;
}

/** A node that waits for another one, and by which of its edges. */
export interface Follower {
  readonly queue: QueueName;
  readonly number: string;
  readonly edge: number;
}

/** A node as its flow has it. */
export interface PlannedNode {
  readonly number: string;
  readonly queue: QueueName;
  readonly kind: "task" | "join" | "gate";
  readonly ref: string;
  readonly after: readonly { readonly needs: ModelEdge["needs"]; readonly from: number }[];
}

export interface ModelFlow {
  readonly id: string;
  readonly home: QueueName;
  /** Whether it is cancelled if a task fails. */
  readonly cancels: boolean;
  nodes: readonly PlannedNode[];
  /** The fields of its home that say what it is made of. */
  readonly fields: string[];
  /** The call that has added it. */
  readonly nth: number;
  /** The members that say what other queues have to get of it. */
  readonly members: string[];
  /** The numbers of the joins behind all of its nodes. */
  readonly roots: { readonly number: string; readonly queue: QueueName }[];
}

/** What a record of a node has beside that of a task. */
export interface ModelNode {
  readonly flow: ModelFlow;
  readonly number: string;
  readonly kind: "task" | "join" | "gate";
  /** Undefined once a task was released. */
  edges: ModelEdge[] | undefined;
  /** Those of its own queue first. Undefined for the flow as a whole. */
  readonly followers: readonly Follower[] | undefined;
  /** What a task waited for, also through gates: it is kept for as long as its record. */
  readonly before: readonly PlannedNode[];
  /** After the last edge, ms. */
  readonly delay: number;
  /** How long it is kept after the end of its flow, ms. */
  keptFor?: number | undefined;
  /** Of a join or gate: the id of the task because of which it has ended. */
  because?: string | undefined;
}

/** A member of `expiry` that says what is left to be done. */
export interface Entry {
  readonly from: QueueName;
  readonly member: string;
  readonly work:
    | {
        readonly does: "notify";
        readonly node: ModelTask;
        readonly outcome: Outcome;
        readonly because: string;
      }
    | { readonly does: "add" }
    | { readonly does: "cancel"; readonly flow: ModelFlow; readonly mode: "a" | "f" };
  /** Whom it notifies. Undefined for a flow as a whole. */
  readonly followers?: readonly Follower[] | undefined;
}

export const nodeId = (flow: ModelFlow, number: string) => `${number}{${flow.id}}`;

/** The edges of a node, a letter for each, as records have them. */
export const lettersOf = (edges: readonly ModelEdge[]): string =>
  edges.map(({ needs, state }) => LETTERS[needs][state]).join("");

const LETTERS = {
  completed: { open: "c", completed: ".", failed: "f" },
  ended: { open: "e", completed: "+", failed: "x" },
  failed: { open: "r", completed: "m", failed: "s" },
} as const;
