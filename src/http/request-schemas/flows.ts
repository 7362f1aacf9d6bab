import * as v from "valibot";
import { MAX_FLOW_TASKS } from "../../features/flows/index.ts";
import { fields, list } from "../request/validate.ts";
import { flowTaskFields } from "./tasks.ts";
import { decodeBytes, queueName, receipt } from "./values.ts";

const refForm = "must be 1 to 128 visible ASCII characters without /, the first a letter or digit";
const ref = v.pipe(v.string(refForm), v.regex(/^[A-Za-z0-9][!-.0-~]{0,127}$/, refForm));

const afterForm = 'must be a ref, { ref, on: "completed" | "ended" }, or a list of these';
const afterOne = v.union(
  [ref, fields({ ref, on: v.exactOptional(v.picklist(["completed", "ended"])) })],
  afterForm,
);
const after = v.exactOptional(
  v.union([afterOne, list(afterOne, MAX_FLOW_TASKS, `must have at most ${MAX_FLOW_TASKS} refs`)], afterForm),
);

const taskOfQueue = { queue: queueName, ...flowTaskFields };

/** A task of a flow. */
export const flowTask = v.pipe(fields({ ref, after, ...taskOfQueue }), decodeBytes("payload"));

type FlowTask = v.InferOutput<typeof flowTask>;

interface InnerFlow {
  readonly ref: string;
  readonly flow: FlowItem[];
  readonly after?: v.InferOutput<typeof after>;
}

/** A task or an inner flow, as its caller wrote it. */
export type FlowItem = FlowTask | InnerFlow;

const itemsForm = `must have at most ${MAX_FLOW_TASKS} tasks`;

/** An inner flow. */
export const innerFlow = fields({
  ref,
  flow: list(
    v.lazy(() => flowItem),
    MAX_FLOW_TASKS,
    itemsForm,
  ),
  after,
});

const either = v.union([flowTask, innerFlow as unknown as v.GenericSchema<InnerFlow>]);

/** One or the other, by its fields: the errors are then those of the form that the caller means. */
export const flowItem: v.GenericSchema<FlowItem> = {
  ...either,
  "~run": (dataset, config) => {
    const { value } = dataset;
    const isInner = typeof value === "object" && value !== null && Object.hasOwn(value, "flow");
    return (isInner ? innerFlow : flowTask)["~run"](dataset, config);
  },
};

const items = v.pipe(
  list(flowItem, MAX_FLOW_TASKS, itemsForm),
  v.minLength(1, "must have at least one task"),
);

const nameForm = "must be 1 to 64 of A-Z a-z 0-9 _ . -, beginning with a letter or a digit";

const flowOptions = {
  id: v.exactOptional(v.pipe(v.string(nameForm), v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, nameForm))),
  onFailure: v.exactOptional(v.literal("cancel", 'must be "cancel", or left out')),
};

export const newFlow = fields({ tasks: items, ...flowOptions });

const callback = v.pipe(fields(taskOfQueue), decodeBytes("payload"));

/** Tasks that do not wait for each other, and callbacks, which are tasks that follow when all of them have ended. */
export const newBatch = fields({
  tasks: v.pipe(
    list(
      v.pipe(fields({ ref: v.exactOptional(ref), ...taskOfQueue }), decodeBytes("payload")),
      MAX_FLOW_TASKS,
      itemsForm,
    ),
    v.minLength(1, "must have at least one task"),
  ),
  completed: v.exactOptional(callback),
  failed: v.exactOptional(callback),
  ended: v.exactOptional(callback),
  ...flowOptions,
});

const hasAny = (value: unknown, ...names: readonly string[]) =>
  typeof value === "object" && value !== null && names.some((name) => Object.hasOwn(value, name));

/** Whether it has callbacks; or tasks without a ref, none of which waits for others or is an inner flow. */
function isBatchLike(body: object): boolean {
  if (hasAny(body, "completed", "failed", "ended")) return true;
  const { tasks } = body as { readonly tasks?: unknown };
  if (!Array.isArray(tasks)) return false;
  return tasks.some((task) => !hasAny(task, "ref")) && !tasks.some((task) => hasAny(task, "after", "flow"));
}

export type NewFlow = v.InferOutput<typeof newFlow>;
export type NewBatch = v.InferOutput<typeof newBatch>;

export const isBatch = (body: NewFlow | NewBatch): body is NewBatch => isBatchLike(body);

/** Chooses the form by the fields: the errors are then those of the form that the caller means. */
export const newFlowOrBatch = (body: unknown): typeof newFlow | typeof newBatch =>
  typeof body === "object" && body !== null && isBatchLike(body) ? newBatch : newFlow;

const flowForm = "must be the id of a flow, such as nightly@imports";

/** The flow in the path. */
export const flowInPath = fields({
  flow: v.pipe(
    v.string(flowForm),
    v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}@[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$/, flowForm),
  ),
});

/** Tasks to be added in front of one that waits. */
export const newBefore = fields({ receipt, ref, tasks: items });
