import { type Call, run } from "../../kernel/call.ts";
import { tokenOf } from "../../kernel/call-token.ts";
import type { ArgumentsOf } from "../../kernel/shard.ts";
import type { Adds } from "../../kernel/store.ts";
import type { RequestOptions } from "../../kernel/options/types.ts";
import { requestKey } from "../../kernel/options/validation.ts";
import { putScheduleScript, scheduleNotReturned, setReminderScript } from "./schedule-scripts.ts";
import { sendInOrder } from "../../kernel/transport.ts";
import {
  listedSchedule,
  NEVER,
  readPlan,
  writePlan,
  type ListedSchedule,
  type Plan,
} from "./schedule-record.ts";

/** A schedule as Redis has it. */
export interface StoredSchedule {
  /** Undefined if no schedule has the name. */
  readonly plan: Plan | undefined;
  /** Its next occurrence, epoch ms; 0 if there is none. */
  readonly at: number;
  /** Redis's time, epoch ms. */
  readonly now: number;
}

/** What to store for a schedule. */
export interface Draft {
  readonly plan: Plan;
  /** As {@link writeTask} writes it; empty to keep the stored task. */
  readonly task: string;
  /** The next occurrence, epoch ms. */
  readonly at: number;
}

type Verb = "put" | "pause" | "resume";

/** What a call has written, and whether a schedule of the name existed before. */
interface Written {
  readonly schedule: ListedSchedule;
  readonly existed: boolean;
}

/** The token of a call. The name is part of it: the same idempotency key with another name is another call. */
export function scheduleToken(
  { queue }: Pick<Adds, "queue">,
  verb: Verb | "remove",
  name: string,
  options: RequestOptions,
): Promise<string> | string {
  return tokenOf(queue, `${verb} ${name}`, options);
}

export function putSchedule(
  store: Adds,
  args: ArgumentsOf<typeof putScheduleScript>,
  options: RequestOptions,
) {
  return run(store.queue.transport, store.shard(0).call(putScheduleScript, args), options);
}

/**
 * Reads a schedule, and writes the draft that `decide` makes of it. If another caller changes the schedule
 * meanwhile, it begins again: a failed round means that the other caller succeeded.
 * @param decide returns undefined to write nothing. A call with an idempotency key records that in Redis,
 *   so that a late copy of it writes nothing either
 * @returns undefined if neither this call nor an earlier copy of it wrote anything
 */
export async function writeSchedule(
  store: Adds,
  name: string,
  verb: Verb,
  options: RequestOptions,
  decide: (stored: StoredSchedule) => Draft | undefined,
): Promise<Written | undefined> {
  // One for all copies: the first may have run before the queue got partitions.
  const token = await scheduleToken(store, verb, name, options);
  return store.over(() => writeOnce(store, name, verb, token, options, decide), options);
}

async function writeOnce(
  store: Adds,
  name: string,
  verb: Verb,
  token: string,
  options: RequestOptions,
  decide: (stored: StoredSchedule) => Draft | undefined,
): Promise<Written | undefined> {
  await store.shards(options);
  const call = { token, name };
  const read = { ...call, was: "?", record: "", task: "", at: "" };
  const hasKey = requestKey(options) !== undefined;
  // A pause or resume that finds no schedule is refused by the read itself. A put creates one.
  const noted = hasKey && verb !== "put" ? token : "";
  let reply = await putSchedule(store, { ...read, token: noted }, options);
  for (;;) {
    if (reply.status !== "changed") throw scheduleNotReturned();
    const { record: was, at, now } = reply;
    const draft = decide({ plan: was === "" ? undefined : readPlan(was), at, now });
    if (!draft) {
      if (hasKey && verb === "put") await putSchedule(store, { ...read, was: "!" }, options);
      return undefined;
    }
    const record = writePlan(draft.plan);
    const args = { ...call, was, record, task: draft.task, at: String(draft.at) };
    // Set before the schedule, so that it is never without a reminder; and after it, because a sweep may
    // have changed the reminder meanwhile.
    const shard = store.shard(0);
    const reminder = { queue: shard.name, before: "", at: String(draft.at) };
    const setReminder: Call<unknown> = shard.call(setReminderScript, {}, [reminder]);
    const put = shard.call(putScheduleScript, args);
    const commands = [setReminder, put, setReminder].map(({ command }) => command);
    const outcomes = await sendInOrder(store.queue.transport, commands, options);
    reply = put.read(outcomes[1]);
    if (reply.status === "changed") continue;
    for (const index of [0, 2]) setReminder.read(outcomes[index]);
    if (reply.status === "refused") return undefined;
    if (reply.at < NEVER) await store.ready({ scheduleAt: reply.at });
    return { schedule: listedSchedule(store.queue.name, name, draft.plan, reply.at), existed: reply.existed };
  }
}
