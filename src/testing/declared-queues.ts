import { applyQueues } from "../deploy/declared/apply-queues.ts";
import type { DeclaredQueue } from "../deploy/declared/define-queue.ts";
import { SluiceError, type SluiceErrorCode } from "../errors.ts";
import { type Open, opening } from "../open/opening.ts";
import type { Transport } from "../kernel/transport.ts";
import type { QueueDefinition } from "../open/definition.ts";
import type { Offload } from "../features/offload/types.ts";

/** By declared queue or topic, the function that disconnects it from the last test's database. */
const disconnects = new WeakMap<object, () => void>();

/**
 * Connects the own methods of a declared queue or topic with a test, and no longer with the last one, to free its
 * database.
 */
export function connectDeclared<Connection>(
  declared: { connect(connection: Connection): () => void },
  connection: Connection,
): void {
  disconnects.get(declared)?.();
  disconnects.set(declared, declared.connect(connection));
}

/** How an app of functions, which does not connect its declared queues, is tested. */
interface AloneOptions {
  readonly transport: Transport;
  readonly prefix: string | undefined;
  /** Replaces object stores. */
  readonly inMemory: (offload: Offload) => Offload;
  /** Whether the app itself runs the caller. */
  readonly isInside: () => boolean;
  readonly definitionOf?: ((name: string) => QueueDefinition | undefined) | undefined;
}

/** Opens queues with only what they declare themselves. The app may call what declares a transport. */
export function openAlone(declared: Pick<DeclaredQueue, "requireTransport">, options: AloneOptions): Open {
  const { transport, prefix, inMemory, isInside, definitionOf } = options;
  const send: Transport["send"] = async (...call) => {
    if (isInside()) declared.requireTransport();
    return transport.send(...call);
  };
  const offload = ({ options: own }: QueueDefinition) => own.offload && inMemory(own.offload);
  return opening({ transport: { ...transport, send }, prefix, offload, definitionOf });
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
