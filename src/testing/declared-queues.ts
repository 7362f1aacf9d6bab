import { applyQueues } from "../deploy/declared/apply-queues.ts";
import type { DeclaredQueue, QueueConnection } from "../deploy/declared/define-queue.ts";
import { SluiceError, type SluiceErrorCode } from "../errors.ts";
import { type OpenQueue, opening } from "../open/opening.ts";
import type { Transport } from "../kernel/transport.ts";
import type { Offload } from "../features/offload/types.ts";

/** By declared queue, the function that disconnects it from the last test's database. */
const disconnects = new WeakMap<object, () => void>();

/** Connects a declared queue's own methods with a test, and no longer with the last one, to free its database. */
export function connectDeclared(queue: Pick<DeclaredQueue, "connect">, connection: QueueConnection): void {
  disconnects.get(queue)?.();
  disconnects.set(queue, queue.connect(connection));
}

/** How an app of functions, which does not connect its declared queues, is tested. */
interface AloneOptions {
  readonly transport: Transport;
  readonly prefix: string | undefined;
  /** Replaces object stores. */
  readonly inMemory: (offload: Offload) => Offload;
  /** Whether the app itself runs the caller. */
  readonly isInside: () => boolean;
}

/** Opens a declared queue with only what it declares itself. The app may call it if it declares a transport. */
export function openAlone(queue: DeclaredQueue, options: AloneOptions): OpenQueue {
  const { transport, prefix, inMemory, isInside } = options;
  const send: Transport["send"] = async (...call) => {
    if (isInside()) queue.requireTransport();
    return transport.send(...call);
  };
  const { offload } = queue.options;
  return opening({ transport: { ...transport, send }, prefix, offload: offload && inMemory(offload) })(queue);
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
  if (!failed) return;
  const { queue, code, message } = failed;
  const isNamed = message.startsWith(`${queue}.`);
  throw new SluiceError(code as SluiceErrorCode, isNamed ? message : `${queue}: ${message}`);
}
