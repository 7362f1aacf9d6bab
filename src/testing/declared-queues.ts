import { applyQueues } from "../deploy/declared/apply-queues.ts";
import type { DeclaredQueue, QueueConnection } from "../deploy/declared/define-queue.ts";
import { SluiceError, type SluiceErrorCode } from "../errors.ts";
import type { Transport } from "../queue/redis/transport.ts";

/** By declared queue, the function that disconnects it from the last test's database. */
const disconnects = new WeakMap<object, () => void>();

/** Connects a declared queue's own methods with a test, and no longer with the last one, to free its database. */
export function connectDeclared(queue: Pick<DeclaredQueue, "connect">, connection: QueueConnection): void {
  disconnects.get(queue)?.();
  disconnects.set(queue, queue.connect(connection));
}

/**
 * Applies the settings and schedules of declared queues.
 * @throws {SluiceError} the error of the first queue that cannot be applied
 */
export async function applyDeclared(
  transport: Transport,
  queues: readonly DeclaredQueue[],
  prefix?: string,
): Promise<void> {
  const [failed] = (await applyQueues(transport, queues, { prefix })).failed;
  if (failed) throw new SluiceError(failed.code as SluiceErrorCode, `${failed.queue}: ${failed.message}`);
}
