import { InstanceMemory } from "../../kernel/instance-memory.ts";
import type { Open } from "../../open/opening.ts";
import { operatorOf } from "../../open/operator.ts";
import { atOnce } from "../at-once.ts";
import { type FlowControl, messages } from "../message.ts";
import { type Due, keep, keepFor, keepNoLonger, keptUntil, neededUntil } from "./needed.ts";
import { type Session, type Stored, storedOf } from "../session.ts";

/** What is pinned of a flow control, as `Records` of the kind `flow-control` keep it by its key. */
export interface Pinned {
  readonly parallelism?: true | undefined;
  readonly rate?: true | undefined;
}

/** A message that comes with the limits of its key. */
export interface LimitedMessage {
  readonly key: string;
  readonly limits: FlowControl;
  readonly due: Due;
}

/** How long an instance takes the limits of a key to be those that it has set, ms. */
const KNOWN_FOR = 60_000;

interface Known {
  readonly limits: string;
  /** On the clock of `performance.now()`. */
  readonly until: number;
  /** Until when they are kept, epoch ms. */
  readonly keptUntil: number;
}

/** The limits that this instance has set, by key. */
const applied = new InstanceMemory<Known>();

function memoryOf(session: Session, key: string) {
  const { transport, prefix } = session.open(messages).options;
  return [transport, `${prefix} ${key}`] as const;
}

const pinnedIn = ({ records }: Stored) => records<Pinned>("flow-control");

const forget = (session: Session, key: string) => applied.delete(...memoryOf(session, key));

const limitsOf = ({ parallelism, rate, period = 1 }: FlowControl) => `${parallelism} ${rate} ${period}`;

/**
 * Sets the limits of flow control keys to those of messages, except if they are pinned: two requests for all keys.
 * @param given of a key that comes twice the last ones count
 */
export async function applyFlowControls(session: Session, given: readonly LimitedMessage[]): Promise<void> {
  const byKey = new Map<string, LimitedMessage>();
  for (const one of given) {
    const { delay = 0, at = 0 } = byKey.get(one.key)?.due ?? {};
    const due = { delay: Math.max(delay, one.due.delay ?? 0), at: Math.max(at, one.due.at ?? 0) };
    byKey.set(one.key, { ...one, due });
  }
  const changed = [...byKey.values()].filter(({ key, limits, due }) => {
    const known = applied.get(...memoryOf(session, key));
    return (
      known?.limits !== limitsOf(limits) ||
      performance.now() >= known.until ||
      known.keptUntil < neededUntil(session, due)
    );
  });
  if (changed.length === 0) return;
  const reads = changed.map(
    ({ key }) =>
      (open: Open) =>
        pinnedIn(storedOf(open)).get(key),
  );
  const keeps = (open: Open) => keepFor(storedOf(open), changed).then(() => undefined);
  const [, ...pinned] = await atOnce(session, [keeps, ...reads], (open, call) => call(open));
  const changes = changed.map(({ limits }, i) => ({ limits, pinned: pinned[i] }));
  await atOnce(
    session,
    changes,
    async (open, { limits: { key, parallelism, rate, period = 1 }, pinned: its }) => {
      await operatorOf(open(messages)).configureGroup(key, {
        ...(!its?.parallelism && { maxWorking: parallelism ?? null }),
        ...(!its?.rate && { rate: rate === undefined ? null : { most: rate, per: period * 1_000 } }),
      });
    },
  );
  for (const { key, limits, due } of changed) {
    const until = performance.now() + KNOWN_FOR;
    const known = { limits: limitsOf(limits), until, keptUntil: keptUntil(session, due) };
    applied.set(...memoryOf(session, key), known);
  }
}

/** Keeps the limits of a key for a message that is tried again, or may be retried as a dead letter. */
export async function keepLimits(session: Session, { key }: FlowControl): Promise<void> {
  const known = applied.get(...memoryOf(session, key));
  if (known && known.keptUntil >= neededUntil(session, {})) return;
  await keepFor(session, [{ key, due: {} }]);
  if (known) applied.set(...memoryOf(session, key), { ...known, keptUntil: keptUntil(session, {}) });
}

/** Sets limits of a key that messages do not change until they are unpinned. */
export async function pinFlowControl(
  session: Session,
  key: string,
  { parallelism, rate, period = 1 }: Omit<FlowControl, "key">,
): Promise<void> {
  const added = { ...(parallelism && { parallelism: true as const }), ...(rate && { rate: true as const }) };
  await pinnedIn(session).change(key, (before) => ({ ...before, ...added }));
  await keep(session, key);
  await operatorOf(session.open(messages)).configureGroup(key, {
    ...(parallelism && { maxWorking: parallelism }),
    ...(rate && { rate: { most: rate, per: period * 1_000 } }),
  });
  forget(session, key);
}

/** Lets messages change the limits of a key again. They stay until one does. */
export async function unpinFlowControl(session: Session, key: string, what: Pinned): Promise<void> {
  let isPinned = false;
  await pinnedIn(session).change(key, ({ parallelism, rate } = {}) => {
    const left = {
      ...(!what.parallelism && parallelism && { parallelism }),
      ...(!what.rate && rate && { rate }),
    };
    isPinned = Object.keys(left).length > 0;
    return isPinned ? left : undefined;
  });
  if (!isPinned) await keepNoLonger(session, key);
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
