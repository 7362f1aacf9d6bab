import { STOP_REASONS, StoppedError, type StopReason } from "../drain/failures.ts";
import type { Task } from "../drain/types.ts";
import { isDeclared } from "../deploy/declared/define-queue.ts";
import { invalidArgument } from "../errors.ts";
import { decodeValue, encodePayload } from "../kernel/record/codec.ts";
import type { Duration } from "../kernel/options/duration.ts";
import { milliseconds } from "../kernel/options/duration.ts";
import { encodeProgress } from "../kernel/record/record.ts";
import { instantMs, LAST_INSTANT } from "../kernel/options/instants.ts";
import { onlyOptions, wholeNumber, taskId } from "../kernel/options/validation.ts";
import type { FlowCalls } from "../open/flows/flow-calls.ts";
import { type Before, type FlowItem, planFlow, type QueueOfFlow } from "../features/flows/index.ts";
import type { QueueDefinition } from "../open/definition.ts";
import { notAQueue } from "../open/definition.ts";
import { checkAndEncode } from "../kernel/enqueue/new-tasks.ts";
import { validatePayload } from "../kernel/enqueue/schema.ts";
import { fixedOptions } from "../kernel/enqueue/task-options.ts";

/** One call of a task's `extend`. */
export interface Extension {
  readonly lease: Duration | undefined;
  readonly progress: unknown;
}

/** One call of a task's `addBefore`. */
export interface Addition {
  readonly ref: string;
  readonly items: readonly FlowItem<QueueOfFlow>[];
}

/** A task to call a handler with. No queue has it. */
export interface TestTask<T> extends Task<T>, FlowCalls {
  /** The calls of `extend` so far. */
  readonly extensions: readonly Extension[];
  /** The calls of `addBefore` so far. */
  readonly additions: readonly Addition[];
  /** Aborts the signal, as a drain does for that reason. */
  abort(reason: StopReason): void;
}

/** What a task for a test has, besides its payload. */
export interface TestTaskFields extends Partial<
  Pick<Task, "id" | "attempt" | "enqueuedAt" | "headers" | "group">
> {
  /** What became of the tasks that it waited for in its flow, by their refs. */
  readonly before?: Readonly<Record<string, Before>> | undefined;
}

/**
 * Makes a task to call a handler with, without a queue.
 *
 * The payload and the fields are those of a delivery, and what an enqueue refuses is refused with the same error. So a
 * `Date` in the payload is a text, and a `Map` an error.
 * @param payload as it is enqueued
 * @param fields of the task. Default: the id "test-1", the first attempt, enqueued now, after no other task of a flow
 * @param fields.queue the declared queue. Its schema then checks and transforms the payload, and the task comes in a
 *   promise. Default: no schema
 * @throws {SluiceError} `invalid_argument` or `too_large`, as an enqueue; `invalid_argument` for an unknown field
 * @example await sendWelcome.handler(testTask({ to: "a@example.com" }, { attempt: 3 }), env, tools);
 * @example const task = await testTask({ to: "a@example.com" }, { queue: emails });
 */
export function testTask<In, Out>(
  payload: In,
  fields: TestTaskFields & { readonly queue: QueueDefinition<In, Out> },
): Promise<TestTask<Out>>;
export function testTask<T>(payload: T, fields?: TestTaskFields): TestTask<T>;
export function testTask(
  payload: unknown,
  { queue, ...fields }: TestTaskFields & { readonly queue?: QueueDefinition } = {},
): TestTask<unknown> | Promise<TestTask<unknown>> {
  onlyOptions(fields, ["id", "attempt", "enqueuedAt", "headers", "group", "before", "queue"]);
  if (queue === undefined) {
    if (fields.id !== undefined) taskId(fields.id);
    return newTask(decodeValue(encodePayload(payload, "payload")), fields);
  }
  return forQueue(queue, payload, fields);
}

async function forQueue(queue: QueueDefinition, payload: unknown, fields: TestTaskFields) {
  if (!isDeclared(queue)) throw notAQueue();
  const { schema, offload } = queue.options;
  const encoded = await checkAndEncode(schema, { ...fields, payload }, "", offload?.maxBytes);
  const delivered = decodeValue(encoded);
  const validated = schema ? await validatePayload(schema, delivered) : { payload: delivered };
  if ("issues" in validated)
    throw invalidArgument("payload", "must match the schema of the queue at each check");
  return newTask(validated.payload, fields);
}

function newTask(payload: unknown, fields: TestTaskFields): TestTask<unknown> {
  const controller = new AbortController();
  const extensions: Extension[] = [];
  const additions: Addition[] = [];
  const { id = "test-1", group } = fields;
  const attempt = wholeNumber(fields.attempt ?? 1, "attempt", 1, Number.MAX_SAFE_INTEGER);
  const enqueuedAt = instantMs(fields.enqueuedAt ?? Date.now(), "enqueuedAt", LAST_INSTANT);
  const { headers } = fixedOptions({}, fields, "");
  const receipt = `1.${attempt}.${attempt}.test-token.${id}`;
  return {
    id,
    receipt,
    payload,
    attempt,
    enqueuedAt,
    headers,
    group,
    signal: controller.signal,
    extensions,
    additions,
    before: async () => fields.before ?? {},
    async addBefore(ref, items) {
      const { nodes } = planFlow(items);
      const refs = nodes.flatMap((node) => (node.kind === "task" ? [node.ref] : []));
      additions.push({ ref, items });
      const tasks = Object.fromEntries(refs.map((one, i) => [one, `${i}{test@test}`]));
      return { ok: true, created: true, tasks };
    },
    abort(reason) {
      if (!STOP_REASONS.includes(reason))
        throw invalidArgument("reason", `must be one of ${STOP_REASONS.join(", ")}`);
      controller.abort(new StoppedError(reason));
    },
    extend: async (lease, { progress } = {}) => {
      const ms = lease === undefined ? 300_000 : milliseconds(lease, "lease", { min: 1 });
      if (progress !== undefined) encodeProgress(progress, "progress");
      extensions.push({ lease, progress });
      return { receipt, ok: true, state: "working", deadlineAt: Date.now() + ms };
    },
  };
}
