import { slicesOf } from "../../kernel/slices.ts";
import { queueName } from "../../kernel/options/validation.ts";
import type { Transport } from "../../kernel/transport.ts";
import { readRegistry, queuesOf } from "../../sweep/registry.ts";
import type { DeepSweepPart } from "../../sweep/deep-part.ts";

/** Of how many queues one request reads whether they are divided. */
const QUEUES_PER_REQUEST = 1_000;

interface Wanted {
  readonly prefix?: string | undefined;
  readonly queue?: string | undefined;
  readonly queues?: ((name: string) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly now?: (() => number) | undefined;
}

/**
 * The names of the queues that a deep sweep checks, or of their shards, in order, so that a cursor can name the
 * next.
 * @throws {SluiceError} `invalid_argument`
 */
export async function queuesToSweep(
  transport: Transport,
  wanted: Wanted,
  parts: readonly DeepSweepPart[],
): Promise<string[]> {
  if (wanted.queue !== undefined) return allNames(transport, [queueName(wanted.queue)], wanted, parts);
  const { queues, divided } = await registered(transport, wanted);
  return divided ? allNames(transport, queues, wanted, parts) : inOrder(queues);
}

export function inOrder(names: readonly string[]): string[] {
  return names.toSorted((one, other) => (one < other ? -1 : 1));
}

async function registered(transport: Transport, { prefix, signal, now, queues = () => true }: Wanted) {
  const names = new Set<string>();
  /** Whether the registry shows that queues are divided. */
  let divided = false;
  let cursor: string | undefined;
  do {
    const page = await readRegistry(transport, { prefix, signal, now, cursor, size: 1_000 });
    for (const { name } of queuesOf(page.queues)) if (queues(name)) names.add(name);
    divided ||= page.divided.length > 0;
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
  return { queues: [...names], divided };
}

async function allNames(
  transport: Transport,
  queues: readonly string[],
  { prefix, signal }: Wanted,
  parts: readonly DeepSweepPart[],
): Promise<string[]> {
  const names: string[] = [];
  for (const slice of slicesOf(queues, QUEUES_PER_REQUEST)) {
    const found = new Map<string, readonly string[]>();
    for (const part of parts)
      for (const [queue, ofQueue] of (await part.namesOf?.(slice, { transport, prefix, signal })) ?? [])
        found.set(queue, ofQueue);
    for (const queue of slice) names.push(...(found.get(queue) ?? [queue]));
  }
  return inOrder(names);
}
