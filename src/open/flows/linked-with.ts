import { CheckedWaker, type Waker } from "../../features/waking/index.ts";
import { linked, linkedReleasing } from "../../kernel/linked/linked-transport.ts";
import type { Transport } from "../../kernel/transport.ts";

/** A linked transport, which also wakes consumers of other queues, for tasks that begin because others have ended. */
export function linkedWith(transport: Transport, wake?: Waker): Transport {
  if (!wake) return linked(transport);
  const waker = new CheckedWaker(wake);
  return linkedReleasing(transport, {
    wakeWindow: (queue) => waker.window(queue),
    ready: (queue) => waker.wake(queue),
  });
}
