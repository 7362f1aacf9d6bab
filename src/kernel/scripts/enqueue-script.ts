import { ReplyReader, type Binding } from "./binding.ts";
import { enqueue } from "../../lua/enqueue.gen.ts";
import type { Reply } from "../transport.ts";

export const enqueueScript = {
  script: enqueue,
  keys: ["pending", "fair", "fairByGroup", "limited", "delayed", "tasks", "expiry", "dead"],
  args: ["testNow", "withSettings", "wake", "refuseEach", "slots"],
  each: ["id", "when", "unique", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("enqueue", reply);
    return readAnswers(reader, reader.status("ok", "full", "reused", "moved"), readAdded);
  },
} as const satisfies Binding;

/** The reply of an enqueue. */
export interface EnqueueReply<Refusal, Answer> {
  /** Why all tasks were refused. */
  readonly refused: Refusal | undefined;
  /** Whether enqueues must read the queue's settings; undefined if this call did not read them. */
  readonly mustReadSettings: boolean | undefined;
  /** Whether a consumer is to be woken. */
  readonly wake: boolean;
  /**
   * For each task: whether it was created, and the id of the task that has its dedup key already; or why this task
   * alone was refused.
   */
  readonly tasks: readonly Answer[];
}

/** Reads the reply of an enqueue behind its status. */
export function readAnswers<Refusal extends string, Answer>(
  reader: ReplyReader,
  status: "ok" | Refusal,
  read: (answer: string | number) => Answer,
): EnqueueReply<Refusal, Answer> {
  if (status !== "ok")
    return { refused: status, mustReadSettings: status === "full" || undefined, wake: false, tasks: [] };
  const settings = reader.integer();
  const wake = reader.integer() === 1;
  return {
    refused: undefined,
    mustReadSettings: settings < 0 ? undefined : settings === 1,
    wake,
    tasks: reader.rest((item) => read(item.textOrInteger())),
  };
}

const enqueueRefusals = ["full", "reused", "newer_schema"] as const;

/**
 * Why an enqueue is refused. `full`: more tasks than `maxPending` would be pending; `reused`: the idempotency
 * key belongs to other tasks; `newer_schema`: a newer release wrote the record of the id.
 */
export type EnqueueRefusal = (typeof enqueueRefusals)[number];

export type Added =
  | { readonly created: boolean; readonly id?: string }
  | { readonly refused: EnqueueRefusal };

/** The answer to one task of an enqueue. */
export function readAdded(added: string | number): Added {
  if (typeof added === "number") return { created: added === 1 };
  // A refusal begins with a space, an id does not.
  if (!added.startsWith(" ")) return { id: added, created: false };
  return { refused: new ReplyReader("enqueue", [added.slice(1)]).oneOf(enqueueRefusals) };
}
