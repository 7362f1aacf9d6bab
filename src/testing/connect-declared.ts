import type { DeclaredQueue, QueueConnection } from "../declared/define-queue.ts";

/** By declared queue, what disconnects it from the last test's database. */
const disconnects = new WeakMap<object, () => void>();

/** Connects a declared queue's own methods with a test, instead of the test before, whose database can then be freed. */
export function connectDeclared(queue: Pick<DeclaredQueue, "connect">, connection: QueueConnection): void {
  disconnects.get(queue)?.();
  disconnects.set(queue, queue.connect(connection));
}
