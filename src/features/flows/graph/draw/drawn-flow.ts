import type { GraphEdges } from "../layers.ts";
import type { FlowNode } from "../flow-plan.ts";

/** A node of a flow, as it is drawn. */
export interface DrawnNode {
  /** Gates are not drawn. */
  readonly kind: FlowNode<unknown>["kind"];
  readonly ref: string;
  /** Undefined for an inner flow. */
  readonly queue?: string | undefined;
  /** Such as `working`. */
  readonly state: string;
  /** What is written behind it, such as the reason of a rejection. */
  readonly note?: string | undefined;
}

export interface DrawnFlow {
  /** As a plan has them. */
  readonly nodes: readonly DrawnNode[];
  readonly edges: GraphEdges & Readonly<Record<"mustComplete" | "mustFail", ArrayLike<number>>>;
}

export interface DrawOptions {
  /** In characters; what is longer loses the end of its notes. @default as long as needed */
  readonly width?: number | undefined;
  /** Whether to draw lines with `|`, `-` and `+`. @default false: with the characters for boxes */
  readonly ascii?: boolean | undefined;
  /** Colours a part of a line that says a state. @default none */
  readonly color?: ((text: string, state: string) => string) | undefined;
}
