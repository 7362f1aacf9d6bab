import { readPartitionName } from "../queue/core/keys.ts";
import { readWritten } from "../queue/core/read-record.ts";
import { dequeueScript, settleAndDequeueScript } from "../queue/redis/take-scripts.ts";
import { enqueueScript } from "../queue/redis/enqueue-script.ts";
import type { Command, CommandOutcome, ScriptCall } from "../queue/redis/transport.ts";

/** A task as it was enqueued. */
export interface EnqueuedTask<T = unknown> {
  readonly queue: string;
  readonly id: string;
  /** The payload; if it is encrypted, the bytes that Redis has. */
  readonly payload: T;
  readonly group?: string;
  readonly priority?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

type Enqueued = ReturnType<typeof enqueueScript.decode>;
type Dequeued = ReturnType<typeof dequeueScript.decode>;

const FIXED = enqueueScript.args.length;
const EACH = enqueueScript.each.length;

/** Records what requests enqueue and dequeue. */
export class CallLog {
  readonly #tasks: EnqueuedTask[] = [];
  readonly #nextDue = new Map<string, number>();
  #delivered = 0;

  /** The tasks that were added, in order; those of one queue, if it is named. */
  tasksOf(queue?: string): EnqueuedTask[] {
    return this.#tasks.filter((task) => queue === undefined || task.queue === queue);
  }

  /** How many tasks all dequeues have returned. */
  get delivered(): number {
    return this.#delivered;
  }

  /** The `nextDueAt` of the last dequeue from a partition, epoch ms; 0 if it is not known. */
  nextDueAt(partition: string): number {
    return this.#nextDue.get(partition) ?? 0;
  }

  add(commands: readonly Command[], outcomes: readonly CommandOutcome[]): void {
    for (const [i, command] of commands.entries()) {
      const outcome = outcomes[i];
      if (!("script" in command) || !outcome || !("reply" in outcome)) continue;
      const [, tag = "", first = ""] = /\{(.*)\}(\/0)?:[^:]*$/.exec(command.keys[0] ?? "") ?? [];
      const partition = tag + first;
      const { name } = command.script;
      if (name === enqueueScript.script.name)
        this.#addEnqueued(readPartitionName(partition).queue, command, enqueueScript.decode(outcome.reply));
      if (name === dequeueScript.script.name)
        this.#addDequeued(partition, dequeueScript.decode(outcome.reply));
      if (name === settleAndDequeueScript.script.name)
        this.#addDequeued(partition, settleAndDequeueScript.decode(outcome.reply).dequeued);
    }
  }

  #addDequeued(partition: string, { tasks, nextDueAt }: Dequeued): void {
    this.#delivered += tasks.length;
    this.#nextDue.set(partition, nextDueAt);
  }

  #addEnqueued(queue: string, { args }: ScriptCall, { tasks }: Enqueued): void {
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
