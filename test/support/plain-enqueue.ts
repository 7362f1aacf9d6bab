import type { Keys } from "../../src/kernel/names/keys.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../src/kernel/scripts/replies.ts";
import { enqueuePlainScript } from "../../src/kernel/scripts/enqueue-plain-script.ts";
import { enqueueAndWakeScript } from "../../src/kernel/scripts/enqueue-and-wake-script.ts";
import { enqueueAndLeaseScript } from "../../src/features/hand-over/index.ts";
import { enqueueScript } from "../../src/kernel/scripts/enqueue-script.ts";
import type { Transport } from "../../src/kernel/transport.ts";

export interface PlainItem {
  readonly id: string;
  /** As the script takes it. */
  readonly record: string;
}

/** The arguments of both scripts; what is not given is empty. */
export interface EnqueueArgs {
  readonly testNow: string;
  readonly withSettings?: string;
  readonly wake?: string;
  /** Of the script for plain tasks that wakes. */
  readonly ifEmpty?: string;
}

/** What both scripts answer. */
interface Answer {
  readonly created: readonly unknown[];
  readonly wake: boolean;
}

/** One call of the script for plain tasks, or of the one that wakes. @returns undefined if it has written nothing */
export async function byPlainScript(
  transport: Transport,
  keys: Keys,
  items: readonly PlainItem[],
  { testNow, withSettings = "", wake, ifEmpty = "" }: EnqueueArgs,
): Promise<Answer | undefined> {
  const call = wake
    ? callOf(enqueueAndWakeScript, keys, { testNow, window: wake, ifEmpty }, items)
    : callOf(enqueuePlainScript, keys, { testNow, withSettings }, items);
  const { decode } = wake ? enqueueAndWakeScript : enqueuePlainScript;
  const reply = decode(lastReply(await transport.send([call])));
  return reply && { created: items.map(() => true), wake: reply.wake };
}

/** The same tasks by the script for all tasks. */
export async function byFullScript(
  transport: Transport,
  keys: Keys,
  items: readonly PlainItem[],
  { testNow, withSettings = "", wake = "" }: EnqueueArgs,
): Promise<Answer> {
  const given = { testNow, withSettings, wake, refuseEach: "", slots: "" };
  const all = items.map((item) => ({ ...item, when: "", unique: "" }));
  const reply = enqueueScript.decode(
    lastReply(await transport.send([callOf(enqueueScript, keys, given, all)])),
  );
  if (reply.refused) throw new Error(reply.refused);
  const created = reply.tasks.map((task) => ("created" in task ? task.created : task.refused));
  return { created, wake: reply.wake };
}

/** Enqueues as a caller does that takes its tasks for plain: if the first script writes nothing, by the second. */
export async function byBothScripts(...call: Parameters<typeof byFullScript>): Promise<Answer> {
  return (await byPlainScript(...call)) ?? byFullScript(...call);
}

/**
 * Enqueues as a caller does whose consumer can begin the tasks at once: if the script that leases them writes nothing,
 * by the second.
 * @returns also the tasks' lease numbers and deadlines, if they are leased
 */
export async function byHandOver(
  transport: Transport,
  keys: Keys,
  items: readonly PlainItem[],
  args: Readonly<Record<"testNow" | "wake" | "lease" | "token", string>>,
) {
  const call = callOf(enqueueAndLeaseScript, keys, args, items);
  const answer = enqueueAndLeaseScript.decode(lastReply(await transport.send([call])));
  const reply = answer && "isKnown" in answer ? undefined : answer;
  const { created, wake } = reply
    ? { created: items.map(() => true), wake: reply.wake }
    : await byFullScript(transport, keys, items, args);
  return { created, wake, leases: reply?.leased?.leases ?? [] };
}
