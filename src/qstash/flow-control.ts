import { InstanceMemory } from "../kernel/instance-memory.ts";
import { operatorOf } from "../open/operator.ts";
import { type FlowControl, messages } from "./message.ts";
import type { Session } from "./session.ts";

/** What is pinned of a flow control, as `Records` of the kind `flow-control` keep it by its key. */
export interface Pinned {
  readonly parallelism?: true | undefined;
  readonly rate?: true | undefined;
}

/** How long an instance takes the limits of a key to be those that it has set, ms. */
const KNOWN_FOR = 60_000;

const set = new InstanceMemory<{ readonly limits: string; readonly until: number }>();

/** Sets the limits of a flow control key to those of a message, except if they are pinned. */
export async function applyFlowControl(
  session: Session,
  flowControl: FlowControl | undefined,
): Promise<void> {
  if (!flowControl) return;
  const { key, parallelism, rate, period = 1 } = flowControl;
  const opened = session.open(messages);
  const { transport, prefix } = opened.options;
  const limits = `${parallelism} ${rate} ${period}`;
  const name = `${prefix} ${key}`;
  const known = set.get(transport, name);
  if (known?.limits === limits && performance.now() < known.until) return;
  const pinned = await session.records<Pinned>("flow-control").get(key);
  await operatorOf(opened).configureGroup(key, {
    ...(!pinned?.parallelism && { maxWorking: parallelism ?? null }),
    ...(!pinned?.rate && { rate: rate === undefined ? null : { most: rate, per: period * 1_000 } }),
  });
  set.set(transport, name, { limits, until: performance.now() + KNOWN_FOR });
}
