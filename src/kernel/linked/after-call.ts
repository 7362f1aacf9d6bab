/** Does what a call has left to be notified to other partitions. */
import { SluiceError } from "../../errors.ts";
import { run } from "../call.ts";
import type { QueueRef } from "../queue-ref.ts";
import type { ReplyReader } from "../scripts/binding.ts";
import type { SendOptions } from "../transport.ts";
import { type ForReleased, type Link, shardNamed } from "./link.ts";
import { readEntries, readOutboxScript } from "./link-scripts.ts";
import { noteNodes } from "./node-notes.ts";
import { emptyOutbox, sendOutbox } from "./outbox.ts";

/**
 * Notifies what a settle has left to be notified. If that fails, it stays in the outbox, and the settle has succeeded.
 * @param keys those of the settle
 * @param left the time of the settle, and the entries: so the calls need not read the time again
 */
export async function sendSettled(
  transport: QueueRef["transport"],
  keys: readonly string[],
  left: ReplyReader,
  options: SendOptions = {},
  released?: ForReleased,
): Promise<void> {
  const { link, name } = shardOf(transport, keys, left.text());
  await unlessItFails(sendOutbox({ ...link, released }, name, readEntries(left), ofRequest(options)));
}

/** As {@link sendSettled}, after a call whose reply does not have what it has left. */
export async function emptyOutboxOf(
  transport: QueueRef["transport"],
  keys: readonly string[],
  testNow: string | undefined,
  options: SendOptions = {},
  released?: ForReleased,
): Promise<void> {
  const { link, name } = shardOf(transport, keys, testNow);
  await unlessItFails(emptyOutbox({ ...link, released }, name, ofRequest(options)));
}

/** As {@link emptyOutboxOf}, after a redrive: sweeps find the nodes again of a flow that had ended. */
export async function emptyOutboxOfRedriven(
  transport: QueueRef["transport"],
  keys: readonly string[],
  testNow: string | undefined,
  options: SendOptions = {},
  released?: ForReleased,
): Promise<void> {
  const { link, name } = shardOf(transport, keys, testNow);
  const shard = shardNamed(link, name);
  const own = ofRequest(options);
  const empty = async () => {
    const { nodes } = await run(transport, shard.call(readOutboxScript, { size: "1", skip: "0" }), own);
    if (nodes === 0) return;
    await transport.send([noteNodes(shard)], own);
    await emptyOutbox({ ...link, released }, name, own);
  };
  await unlessItFails(empty());
}

/**
 * The partition that has these keys.
 * @param now the time that its scripts are given, epoch ms
 */
function shardOf(transport: QueueRef["transport"], keys: readonly string[], now: string | undefined) {
  const tasks = keys.find((key) => key.endsWith(":tasks")) ?? "";
  const [, prefix, queue = "", first = ""] = /^(.*):\{([^}]+)\}(\/0)?:tasks$/.exec(tasks) ?? [];
  const link: Link = { transport, prefix, now: now ? () => Number(now) : undefined };
  return { link, name: queue + first };
}

/** Each further request counts as a copy of the one that has left something: in a drain with a limit, too. */
const ofRequest = ({ signal, onSend }: SendOptions): SendOptions => ({ signal, onSend });

/** What has failed stays in the outbox. */
async function unlessItFails(sent: Promise<unknown>): Promise<void> {
  try {
    await sent;
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
  }
}
