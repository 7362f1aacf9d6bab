import { enqueueAndWakeScript } from "../kernel/scripts/enqueue-and-wake-script.ts";
import { readShardName } from "../kernel/names/keys.ts";
import { readWritten } from "../kernel/record/read-record.ts";
import { dequeueScript, settleAndDequeueScript } from "../kernel/scripts/take-scripts.ts";
import type { Binding } from "../kernel/scripts/binding.ts";
import { enqueuePlainScript } from "../kernel/scripts/enqueue-plain-script.ts";
import { type Added, enqueueScript } from "../kernel/scripts/enqueue-script.ts";
import { enqueueAndLeaseScript } from "../features/hand-over/index.ts";
import type { Command, CommandOutcome, Reply, ScriptCall } from "../kernel/transport.ts";

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

type Enqueued = readonly (Added | undefined)[];
type Dequeued = ReturnType<typeof dequeueScript.decode>;

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
      const { queue } = readShardName(partition);
      if (name === enqueueScript.script.name)
        this.#addEnqueued(queue, command, enqueueScript, enqueueScript.decode(outcome.reply).tasks);
      if (name === enqueuePlainScript.script.name && enqueuePlainScript.decode(outcome.reply))
        this.#addEnqueued(queue, command, enqueuePlainScript);
      if (name === enqueueAndWakeScript.script.name && enqueueAndWakeScript.decode(outcome.reply))
        this.#addEnqueued(queue, command, enqueueAndWakeScript);
      if (name === enqueueAndLeaseScript.script.name) this.#addHandedOver(queue, command, outcome.reply);
      if (name === dequeueScript.script.name)
        this.#addDequeued(partition, dequeueScript.decode(outcome.reply));
      // Its settle may have notes for the linked transport, which are not decoded here.
      if (name === settleAndDequeueScript.script.name && Array.isArray(outcome.reply) && outcome.reply[1])
        this.#addDequeued(partition, dequeueScript.decode(outcome.reply[1] as Reply));
    }
  }

  #addHandedOver(queue: string, command: ScriptCall, reply: Reply): void {
    const added = enqueueAndLeaseScript.decode(reply);
    if (!added || "isKnown" in added) return;
    this.#addEnqueued(queue, command, enqueueAndLeaseScript);
    this.#delivered += (added.leased?.leases.length ?? 0) / 2;
  }

  #addDequeued(partition: string, { tasks, nextDueAt }: Dequeued): void {
    this.#delivered += tasks.length;
    this.#nextDue.set(partition, nextDueAt);
  }

  /** @param added the answers, one for each task. @default all were created */
  #addEnqueued(queue: string, { args }: ScriptCall, script: Required<Binding>, added?: Enqueued): void {
    const [first, each] = [script.args.length, script.each.length];
    for (let i = 0; first + i * each < args.length; i++) {
      const answer = added?.[i];
      if (added && !(answer && "created" in answer && answer.created)) continue;
      const own = args.slice(first + i * each, first + (i + 1) * each);
      const [id = "", record = ""] = [own[script.each.indexOf("id")], own[script.each.indexOf("record")]];
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
