import { CheckedWaker, type Waker } from "../../features/waking/index.ts";
import { linked, linkedNoticing } from "../../kernel/linked/linked-transport.ts";
import type { Transport } from "../../kernel/transport.ts";

/** A linked transport, which also wakes consumers of other queues, for tasks that begin because others have ended. */
export const linkedWith = (transport: Transport, wake?: Waker): Transport =>
  wake ? linkedNoticing(transport, new CheckedWaker(wake)) : linked(transport);
