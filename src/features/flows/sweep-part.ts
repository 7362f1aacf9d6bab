import { SluiceError } from "../../errors.ts";
import { dividedSince } from "../../kernel/linked/divided-since.ts";
import { forgetNodes, notedNodes } from "../../kernel/linked/node-notes.ts";
import { emptyOutbox } from "../../kernel/linked/outbox.ts";
import type { CurrentSweep, SweepPart } from "../../sweep/part.ts";
import type { RegistryPage } from "../../sweep/registry.ts";

/**
 * The part of flows in a sweep: notifies what callers have left to be notified, and adds what they have left to be added.
 * Queues without flows cost it no request. The sweep must have a linked transport.
 */
export const flowsPart: SweepPart = (sweep) => ({ after: (page) => emptyOutboxes(sweep, page) });

async function emptyOutboxes(sweep: CurrentSweep, { reminders }: RegistryPage): Promise<void> {
  const { options, failedParts } = sweep;
  const transport = dividedSince(sweep.transport);
  const { prefix, signal, now } = options;
  const released = {
    wakeWindow: (queue: string) => sweep.wakeWindow(queue),
    ready: (queue: string) => sweep.toWake.add(queue),
  };
  for (const { name, at } of notedNodes(reminders)) {
    if (!sweep.isWanted(name)) continue;
    try {
      const link = { transport, prefix, now, released };
      const endLost = async (member: string) =>
        (await import("./end-lost.ts")).endLost(link, member, { signal });
      const isOver = await emptyOutbox({ ...link, endLost }, name, { signal });
      if (isOver) await transport.send([forgetNodes(sweep.shardOf(name), at)], { signal });
    } catch (error) {
      if (!(error instanceof SluiceError)) throw error;
      failedParts.set(name, error.code);
    }
  }
}
