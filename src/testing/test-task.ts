import { STOP_REASONS, StoppedError, type StopReason } from "../consumer/drain/failures.ts";
import type { Task } from "../consumer/drain/types.ts";
import type { Duration } from "../queue/core/duration.ts";
import { milliseconds } from "../queue/core/duration.ts";
import { onlyOptions } from "../queue/core/validation.ts";
import { invalidArgument } from "../errors.ts";

/** One call of a task's `extend`. */
export interface Extension {
  readonly lease: Duration | undefined;
  readonly progress: unknown;
}

/** A task to call a handler with. No queue has it. */
export interface TestTask<T> extends Task<T> {
  /** The calls of `extend` so far. */
  readonly extensions: readonly Extension[];
  /** Aborts the signal, as a drain does for that reason. */
  abort(reason: StopReason): void;
}

/**
 * Makes a task to call a handler with, without a queue.
 * @param payload as the handler gets it
 * @param fields of the task. Default: the id "test-1", the first attempt, enqueued now
 * @throws {SluiceError} `invalid_argument` for an unknown field
 * @example await sendWelcome.handler(testTask({ to: "a@example.com" }, { attempt: 3 }), env, tools);
 */
export function testTask<T>(
  payload: T,
  fields: Partial<Pick<Task<T>, "id" | "attempt" | "enqueuedAt" | "headers" | "group">> = {},
): TestTask<T> {
  onlyOptions(fields, ["id", "attempt", "enqueuedAt", "headers", "group"]);
  const controller = new AbortController();
  const extensions: Extension[] = [];
  const { id = "test-1", attempt = 1, enqueuedAt = Date.now(), headers, group } = fields;
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
    abort(reason) {
      if (!STOP_REASONS.includes(reason))
        throw invalidArgument("reason", `must be one of ${STOP_REASONS.join(", ")}`);
      controller.abort(new StoppedError(reason));
    },
    extend: async (lease, { progress } = {}) => {
      const ms = lease === undefined ? 300_000 : milliseconds(lease, "lease", { min: 1 });
      extensions.push({ lease, progress });
      return { receipt, ok: true, state: "working", deadlineAt: Date.now() + ms };
    },
  };
}
