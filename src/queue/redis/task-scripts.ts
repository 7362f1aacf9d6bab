/**
 * The scripts in lua/kernel, and `heartbeat` and `wake`: each with the names of its keys and arguments, as in its contract block, and the
 * decoder of its reply. They are separate exports, so that a bundle has only the scripts that it calls.
 */
import { parts } from "../core/keys.ts";
import { rejectReasons, taskStates } from "../core/types.ts";
import { okay, readExpired, ReplyReader, type Binding } from "./binding.ts";
import { settleAndDequeue } from "./lua/settle-and-dequeue.gen.ts";
import { enqueue } from "./lua/enqueue.gen.ts";
import { enqueuePlain } from "./lua/enqueue-plain.gen.ts";
import { dequeue } from "./lua/dequeue.gen.ts";
import { settle } from "./lua/settle.gen.ts";
import { cancel } from "./lua/cancel.gen.ts";
import { get } from "./lua/get.gen.ts";
import { heartbeat } from "./lua/heartbeat.gen.ts";
import { wake } from "./lua/wake.gen.ts";
import type { Reply, ScriptCall } from "./transport.ts";

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

/** Enqueues at most 490 tasks for now, without group, priority, dedup key and `again`. */
export const enqueuePlainScript = {
  script: enqueuePlain,
  keys: ["pending", "tasks"],
  args: ["testNow", "withSettings", "wake", "slots"],
  each: ["id", "record"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("enqueuePlain", reply);
    // Nothing was written, and the tasks must be sent with `enqueueScript`.
    if (reader.status("ok", "not_plain") === "not_plain") return undefined;
    return {
      /** Whether enqueues must read the queue's settings; undefined if this call did not read them. */
      mustReadSettings: reader.integer() < 0 ? undefined : false,
      /** Whether a consumer is to be woken. */
      wake: reader.integer() === 1,
    };
  },
} as const satisfies Binding;

const enqueueRefusals = ["full", "reused", "newer_schema"] as const;

/**
 * Why an enqueue is refused. `full`: more tasks than `maxPending` would be pending; `reused`: the idempotency
 * key belongs to other tasks; `newer_schema`: a newer release wrote the record of the id.
 */
export type EnqueueRefusal = (typeof enqueueRefusals)[number];

/** `misplaced`: the task was not sent, because no partition may have it. */
export type Added =
  | { readonly created: boolean; readonly id?: string }
  | { readonly refused: EnqueueRefusal | "misplaced" };

/** The answer to one task of an enqueue. */
export function readAdded(added: string | number): Added {
  if (typeof added === "number") return { created: added === 1 };
  // A refusal begins with a space, an id does not.
  if (!added.startsWith(" ")) return { id: added, created: false };
  return { refused: new ReplyReader("enqueue", [added.slice(1)]).oneOf(enqueueRefusals) };
}

/** A task that was leased: its id and fixed record, and the lease. */
interface LeasedRecord {
  readonly id: string;
  /** As a receipt has it. */
  readonly delivery: number | string;
  readonly lease: number;
  readonly deadlineAt: number;
  readonly record: string;
}

export const dequeueScript = {
  script: dequeue,
  keys: parts,
  args: ["testNow", "maxTasks", "lease", "token", "resend", "maxBytes", "worker", "info"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("dequeue", reply);
    const status = reader.status("ok", "more", "paused");
    const paused = status === "paused";
    /** True if the call found only entries that cannot be delivered. Sent again, it continues after them. */
    const more = status === "more";
    const nextDueAt = paused ? 0 : reader.integer();
    const tasks: LeasedRecord[] = [];
    while (reader.isText) {
      tasks.push({
        id: reader.text(),
        delivery: reader.textOrInteger(),
        lease: reader.integer(),
        deadlineAt: reader.integer(),
        record: reader.text(),
      });
    }
    const [deadLetters = []] = reader.rest((item) => item.nested().rest(readExpired));
    return { nextDueAt, paused, more, tasks, deadLetters };
  },
} as const satisfies Binding;

const SETTLED = [...taskStates, "lost", "newer"] as const;
const REASONS = ["", ...rejectReasons] as const;

export const settleScript = {
  script: settle,
  keys: [
    "pending",
    "fair",
    "fairByGroup",
    "limited",
    "working",
    "delayed",
    "tasks",
    "expiry",
    "dead",
    "workerLeases",
  ],
  args: ["testNow", "call"],
  each: ["id", "proof", "terms", "text"],
  decode: (reply: Reply) =>
    okay("settle", reply).rest((item) => {
      if (item.isText)
        return { state: item.oneOf(["completed"]), reason: "", at: 0, cancelRequested: false } as const;
      const settled = item.nested();
      return {
        state: settled.oneOf(SETTLED),
        reason: settled.oneOf(REASONS),
        at: settled.integer(),
        cancelRequested: settled.integer() === 1,
      };
    }),
} as const satisfies Binding;

/** The replies of the settle and the dequeue in that of `settleAndDequeue`. */
export function repliesInside(reply: Reply): readonly [settled: Reply, dequeued: Reply] {
  const reader = new ReplyReader("settleAndDequeue", reply);
  const settled = reader.reply();
  // A text in place of the array is the status of the whole reply.
  if (typeof settled === "string") okay("settleAndDequeue", reply);
  return [settled, reader.reply()];
}

export const settleAndDequeueScript = {
  script: settleAndDequeue,
  keys: parts,
  // Written out: a bundler keeps a value with a spread or a property, even if it is unused.
  args: ["testNow", "maxTasks", "lease", "token", "resend", "maxBytes", "worker", "info", "call"],
  each: ["id", "proof", "terms", "text"],
  decode: (reply: Reply) => {
    const [settled, dequeued] = repliesInside(reply);
    return { settled: settleScript.decode(settled), dequeued: dequeueScript.decode(dequeued) };
  },
} as const satisfies Binding;

/** Joins a settle and a dequeue of the same queue into one call. */
export function settleAndDequeueCall(settle: ScriptCall, dequeue: ScriptCall): ScriptCall {
  const settlements = settle.args.slice(settleScript.args.indexOf("call"));
  const { args, resendArgs } = dequeue;
  return {
    script: settleAndDequeueScript.script,
    keys: dequeue.keys,
    args: [...args, ...settlements],
    ...(resendArgs && { resendArgs: [...resendArgs, ...settlements] }),
  };
}

export const cancelScript = {
  script: cancel,
  keys: ["fair", "fairByGroup", "limited", "working", "delayed", "tasks", "expiry"],
  args: ["testNow", "id", "lease"],
  each: [],
  decode: (reply: Reply) =>
    new ReplyReader("cancel", reply).status(
      "rejected",
      "working",
      "not_found",
      "already_ended",
      "lease_lost",
    ),
} as const satisfies Binding;

export const getScript = {
  script: get,
  keys: ["working", "delayed", "tasks"],
  args: ["id", "payload"],
  each: [],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("get", reply);
    if (reader.status("ok", "not_found") === "not_found") return null;
    return {
      state: reader.oneOf(taskStates),
      at: reader.integer(),
      fixed: reader.text(),
      payload: reader.text(),
      changing: reader.text(),
    };
  },
} as const satisfies Binding;

export const heartbeatScript = {
  script: heartbeat,
  keys: ["working", "delayed", "tasks", "workers", "workerLeases"],
  args: ["testNow", "worker", "info", "lease", "from", "limit", "named"],
  each: ["id", "lease", "token"],
  decode: (reply: Reply) => {
    const reader = new ReplyReader("heartbeat", reply);
    if (reader.status("ok", "worker_lost") === "worker_lost") return null;
    return {
      leases: reader.integer(),
      deadlineAt: reader.integer(),
      next: reader.integer(),
      cancelRequested: Array.from({ length: reader.integer() }, () => reader.text()),
      lost: reader.rest((item) => item.text()),
    };
  },
} as const satisfies Binding;

export const wakeScript = {
  script: wake,
  keys: ["tasks"],
  args: ["testNow", "window"],
  each: [],
  decode: (reply: Reply) => okay("wake", reply).integer() === 1,
} as const satisfies Binding;
