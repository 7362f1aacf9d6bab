import type { Transport } from "../kernel/transport.ts";
import { listQueues, type ListQueuesOptions } from "../sweep/registry.ts";

/** How many pages of the registry are read at most, of about this many queues each. */
const MOST_PAGES = 20;
const PAGE = 1_000;

/** The names of queues, sorted. */
export interface QueueNames {
  readonly names: readonly string[];
  /** Whether there may be others. */
  readonly truncated: boolean;
  /** How many pages of the registry were read. */
  readonly pages: number;
}

/**
 * Reads which queues are registered, in a request for each thousand.
 * @param isWanted whether a name is wanted
 * @param most at most so many names
 * @throws {SluiceError} if Redis cannot be reached
 */
export async function queueNames(
  transport: Transport,
  isWanted: (name: string) => boolean,
  most: number,
  options: Omit<ListQueuesOptions, "cursor" | "size">,
): Promise<QueueNames> {
  const names = new Set<string>();
  let cursor: string | null | undefined;
  let pages = 0;
  while (cursor !== null && pages < MOST_PAGES && names.size <= most) {
    const page = await listQueues(transport, { ...options, size: PAGE, cursor });
    for (const { name } of page.queues) if (isWanted(name)) names.add(name);
    cursor = page.cursor;
    pages++;
  }
  const truncated = cursor !== null || names.size > most;
  return { names: [...names].toSorted().slice(0, most), truncated, pages };
}
