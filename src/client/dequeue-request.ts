import { milliseconds } from "../kernel/options/duration.ts";
import { newToken } from "../kernel/names/ids.ts";
import { requestKey } from "../kernel/options/validation.ts";
import { type Batch, LeasedTask } from "../kernel/lease/leased-task.ts";
import type { DequeueOptions } from "../kernel/options/types.ts";
import { withFields } from "./fields.ts";
import { fieldsJson, splitOptions } from "./json.ts";
import { onDemand } from "./load.ts";
import type { DequeueReply, DequeuingQueue, Pull } from "./types.ts";

/** One dequeue. The client may send several copies of its requests. */
export interface DequeueRequest extends Pull {
  /** Called before each copy is sent. */
  onSend: (() => void) | undefined;
  token: string;
  body(wait?: number): string;
}

/** @throws {SluiceError} `invalid_argument` */
async function dequeueRequest(
  { name, defaults }: DequeuingQueue<unknown>,
  options: DequeueOptions,
): Promise<DequeueRequest> {
  const { request, fields } = splitOptions(options);
  const { wait = 0, token, lease = defaults.lease, maxBytes = defaults.maxBytes, ...rest } = fields;
  const end = performance.now() + milliseconds(wait, "wait");
  const json = await fieldsJson({ ...rest, lease, maxBytes });
  const key = requestKey(request);
  // One token for all copies. From an idempotency key, it is derived in the same way as on the server.
  const made =
    token === undefined && key !== undefined
      ? await (await onDemand()).derivedName("dequeue", name, key)
      : newToken();
  const dequeue: DequeueRequest = {
    options: request,
    token: token ?? made,
    onSend: undefined,
    get wait() {
      return Math.max(0, Math.ceil(end - performance.now()));
    },
    body(left = dequeue.wait) {
      dequeue.onSend?.();
      return withFields({ token: JSON.stringify(dequeue.token), ...(left && { wait: String(left) }) }, json);
    },
  };
  return dequeue;
}

/**
 * Dequeues.
 * @param exchange sends the request, and decodes the reply
 * @throws {SluiceError}
 */
export async function lease<Out, Result extends { readonly tasks: Batch<Out> }>(
  queue: DequeuingQueue<Out>,
  options: DequeueOptions,
  exchange: (request: DequeueRequest) => Promise<Result>,
): Promise<Result> {
  const request = await dequeueRequest(queue, options);
  if (!options.signal) return exchange(request);
  const { runAbortable } = await onDemand();
  return runAbortable(options, {
    run: (onSend) => {
      request.onSend = onSend;
      return exchange(request);
    },
    again: (own) => queue.pull({ options: own, wait: 0, body: () => request.body(0) }),
    settle: queue.settle,
  });
}

/**
 * Decodes the tasks of the reply to a dequeue. Tasks that cannot be decrypted, or do not match the schema, become
 * dead letters. If no other task is left, it dequeues again.
 */
export async function decoded<Out>(
  queue: DequeuingQueue<Out>,
  request: DequeueRequest,
  first: DequeueReply,
): Promise<Batch<Out>> {
  const { tasks, nextDueAt, paused } = first;
  const hasBytes = tasks.some(({ encoding }) => encoding !== undefined);
  if (queue.defaults.schema || queue.values.areSealed || hasBytes) {
    const { decodeReply } = await onDemand();
    return decodeReply(queue, first, request);
  }
  const plain = tasks.map((task) => new LeasedTask(queue, { ...task, payload: task.payload as Out }));
  return Object.assign(plain, { nextDueAt, paused, invalid: 0 });
}
