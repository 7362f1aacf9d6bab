import { parts } from "../names/keys.ts";
import { okay, readExpired, ReplyReader, type Binding } from "./binding.ts";
import { dequeue } from "../../lua/dequeue.gen.ts";
import { settleAndDequeue } from "../../lua/settle-and-dequeue.gen.ts";
import { settle } from "../../lua/settle.gen.ts";
import type { Reply } from "../transport.ts";

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
  decode: (reply: Reply) => {
    const reader = new ReplyReader("dequeue", reply);
    const status = reader.status("ok", "more", "paused");
    const nextDueAt = reader.integer();
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
    return {
      nextDueAt,
      paused: status === "paused",
      /** True if the call found only entries that cannot be delivered. Sent again, it continues after them. */
      more: status === "more",
      tasks,
      deadLetters,
    };
  },
} as const satisfies Binding;

const SETTLED = ["pending", "delayed", "working", "completed", "rejected", "lost", "newer"] as const;
const REASONS = ["", "rejected", "attempts_exhausted", "lease_expired", "taken_back", "cancelled"] as const;

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
  args: [
    "testNow",
    "maxTasks",
    "lease",
    "token",
    "resend",
    "maxBytes",
    "worker",
    "info",
    "lookAfter",
    "call",
  ],
  each: ["id", "proof", "terms", "text"],
  decode: (reply: Reply) => {
    const [settled, dequeued] = repliesInside(reply);
    return { settled: settleScript.decode(settled), dequeued: dequeueScript.decode(dequeued) };
  },
} as const satisfies Binding;
