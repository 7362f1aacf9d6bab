import { readWritten } from "../queue/core/record.ts";
import { enqueueScript } from "../queue/redis/task-scripts.ts";
import type { Command, CommandOutcome, ScriptCall } from "../queue/redis/transport.ts";

/** A task as it was enqueued. */
export interface EnqueuedTask<T = unknown> {
  readonly queue: string;
  readonly id: string;
  /** An encrypted payload is the bytes that Redis has. */
  readonly payload: T;
  readonly group?: string;
  readonly priority?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const FIXED = enqueueScript.args.length;
const EACH = enqueueScript.each.length;

/** Records the tasks that requests enqueue. */
export class EnqueueLog {
  readonly #tasks: EnqueuedTask[] = [];

  /** The tasks that were added, in order; those of one queue, if it is named. */
  tasksOf(queue?: string): EnqueuedTask[] {
    return this.#tasks.filter((task) => queue === undefined || task.queue === queue);
  }

  add(commands: readonly Command[], outcomes: readonly CommandOutcome[]): void {
    for (const [i, command] of commands.entries()) {
      const outcome = outcomes[i];
      if (
        "script" in command &&
        command.script.name === enqueueScript.script.name &&
        outcome &&
        "reply" in outcome
      ) {
        this.#addCall(command, enqueueScript.decode(outcome.reply));
      }
    }
  }

  #addCall({ keys, args }: ScriptCall, { tasks }: ReturnType<typeof enqueueScript.decode>): void {
    const [, queue = ""] = /\{(.*)\}:[^:]*$/.exec(keys[0] ?? "") ?? [];
    for (const [i, added] of tasks.entries()) {
      if (!("created" in added) || !added.created) continue;
      const [id = "", , , record = ""] = args.slice(FIXED + EACH * i);
      const { payload, group, priority, headers } = readWritten(record);
      this.#tasks.push({
        queue,
        id,
        payload,
        ...(group !== undefined && { group }),
        ...(priority !== undefined && { priority }),
        ...(headers !== undefined && { headers }),
      });
    }
  }
}
