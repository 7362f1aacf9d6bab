import type { OperatedQueue } from "../../operate/operated-queue.ts";
import { operatedQueue } from "../operated-store.ts";
import type { OpenQueue } from "../opening.ts";
import { opened } from "../options.ts";

/** The queue of the deliveries for what operators do. Not by `Operator`, which brings the code of all its calls. */
export const operatedOf = ({ definition, options }: OpenQueue): OperatedQueue =>
  operatedQueue(opened(definition, options));
