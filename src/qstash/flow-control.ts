import { InstanceMemory } from "../kernel/instance-memory.ts";
import { operatorOf } from "../open/operator.ts";
import { atOnce } from "./at-once.ts";
import { type FlowControl, messages } from "./message.ts";
import { type Session, sessionOf } from "./session.ts";

/** What is pinned of a flow control, as `Records` of the kind `flow-control` keep it by its key. */
export interface Pinned {
  readonly parallelism?: true | undefined;
  readonly rate?: true | undefined;
}

/** How long an instance takes the limits of a key to be those that it has set, ms. */
const KNOWN_FOR = 60_000;

const set = new InstanceMemory<{ readonly limits: string; readonly until: number }>();

function memoryOf(session: Session, key: string) {
  const { transport, prefix } = session.open(messages).options;
  return [transport, `${prefix} ${key}`] as const;
}

const forget = (session: Session, key: string) => set.delete(...memoryOf(session, key));

const limitsOf = ({ parallelism, rate, period = 1 }: FlowControl) => `${parallelism} ${rate} ${period}`;

/**
 * Sets the limits of flow control keys to those of messages, except if they are pinned: two requests for all keys.
 * @param given of a key that comes twice the last ones count
 */
export async function applyFlowControls(session: Session, given: readonly FlowControl[]): Promise<void> {
  const byKey = new Map(given.map((one) => [one.key, one]));
  const changed = [...byKey.values()].filter((one) => {
    const known = set.get(...memoryOf(session, one.key));
    return known?.limits !== limitsOf(one) || performance.now() >= known.until;
  });
  if (changed.length === 0) return;
  await atOnce(session, changed, (open, one) => applyFlowControl(sessionOf(session.settings, open), one));
  for (const one of changed) {
    const until = performance.now() + KNOWN_FOR;
    set.set(...memoryOf(session, one.key), { limits: limitsOf(one), until });
  }
}

async function applyFlowControl(
  session: Session,
  { key, parallelism, rate, period = 1 }: FlowControl,
): Promise<void> {
  const pinned = await session.records<Pinned>("flow-control").get(key);
  await operatorOf(session.open(messages)).configureGroup(key, {
    ...(!pinned?.parallelism && { maxWorking: parallelism ?? null }),
    ...(!pinned?.rate && { rate: rate === undefined ? null : { most: rate, per: period * 1_000 } }),
  });
}

/** Sets limits of a key that messages do not change until they are unpinned. */
export async function pinFlowControl(
  session: Session,
  key: string,
  { parallelism, rate, period = 1 }: Omit<FlowControl, "key">,
): Promise<void> {
  const added = { ...(parallelism && { parallelism: true as const }), ...(rate && { rate: true as const }) };
  await session.records<Pinned>("flow-control").change(key, (before) => ({ ...before, ...added }));
  await operatorOf(session.open(messages)).configureGroup(key, {
    ...(parallelism && { maxWorking: parallelism }),
    ...(rate && { rate: { most: rate, per: period * 1_000 } }),
  });
  forget(session, key);
}

/** Lets messages change the limits of a key again. They stay until one does. */
export async function unpinFlowControl(session: Session, key: string, what: Pinned): Promise<void> {
  await session.records<Pinned>("flow-control").change(key, ({ parallelism, rate } = {}) => {
    const left = {
      ...(!what.parallelism && parallelism && { parallelism }),
      ...(!what.rate && rate && { rate }),
    };
    return Object.keys(left).length > 0 ? left : undefined;
  });
  forget(session, key);
}

/** How long a key gets no delivery while its rate begins again, at most. */
const RESET_WITHIN = "10s";

/** Begins the period of a key's rate again. */
export async function resetRate(session: Session, key: string): Promise<void> {
  const operator = operatorOf(session.open(messages));
  const { rate, paused } = await operator.groupSettings(key);
  if (!rate) return;
  // Paused, because without a rate all of its messages might be delivered at once.
  await operator.configureGroup(key, { paused: paused || { for: RESET_WITHIN }, rate: null });
  await operator.configureGroup(key, { rate, ...(!paused && { paused: null }) });
}
