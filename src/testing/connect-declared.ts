import type { DeclaredQueue, QueueConnection } from "../declared/define-queue.ts";

/** By declared queue, the function that disconnects it from the last test's database. */
const disconnects = new WeakMap<object, () => void>();

/** Connects a declared queue's own methods with a test, and no longer with the last one, to free its database. */
export function connectDeclared(queue: Pick<DeclaredQueue, "connect">, connection: QueueConnection): void {
  disconnects.get(queue)?.();
  disconnects.set(queue, queue.connect(connection));
}
