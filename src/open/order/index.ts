import { linked } from "../../features/linked/index.ts";
import { checkOrder } from "../../kernel/linked/checked-order.ts";
import type { LinkedPart } from "../linked-part.ts";

/** The code of the strict order within groups, to turn it on. */
export interface Order extends LinkedPart {
  /** Checks a new task of a queue that is declared with a strict order. */
  readonly checkOrder: typeof checkOrder;
}

/**
 * The strict order within groups, for the option `order` of a deployment or an app. A program that makes its own queues
 * gives them `linked(transport)` of `sluice-queue/linked`.
 * @example export default sluice({ order, queues: [defineQueue("ledger", { order: "strict" })] });
 */
export const order: Order = { linked, checkOrder };
