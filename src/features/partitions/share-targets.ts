/** How the limits of a queue are divided among its partitions. Pure: it sends nothing. */

/** What one partition has of one limit. */
export interface Use {
  readonly partition: number;
  /** Its share as it was last set; null if that is not known, or it had no limit. */
  readonly share: number | null;
  /** How much it uses: tasks that work, dequeues of the last period, or pending tasks. */
  readonly used: number;
  /** How much more it could use: its pending tasks; 0 if these are what it uses. */
  readonly waiting: number;
  /** Whether it may get tasks. If not, it keeps no share. */
  readonly active: boolean;
}

/** The shares that a limit should have, and the partition with which the next division begins. */
export interface Division {
  readonly shares: ReadonlyMap<number, number>;
  readonly first: number;
}

/** The share that a partition keeps without need, if the limit allows: so that a new task there need not wait. */
const reserveOf = (limit: number, partitions: number) => Math.floor(limit / (4 * partitions));

/**
 * Divides a limit by need. If it is smaller than the number of partitions that need a share, some get 1 and the
 * others 0, in rotation.
 * @param first the partition with which the rotation begins
 */
export function divide(limit: number, uses: readonly Use[], first: number): Division {
  const active = uses.filter((use) => use.active);
  const reserve = reserveOf(limit, Math.max(1, active.length));
  const turned = inTurn(active, first);
  const shares = new Map(uses.map(({ partition, active: has }) => [partition, has ? reserve : 0]));
  let rest = limit - reserve * active.length;
  let next = first;
  const add = (partition: number, count: number) => {
    shares.set(partition, (shares.get(partition) ?? 0) + count);
    rest -= count;
  };
  for (;;) {
    const hungry = turned.filter((use) => use.used + use.waiting > (shares.get(use.partition) ?? 0));
    if (rest === 0 || hungry.length === 0) break;
    const level = Math.floor(rest / hungry.length);
    for (const { partition, used, waiting } of level === 0 ? hungry.slice(0, rest) : hungry) {
      add(partition, Math.min(Math.max(1, level), used + waiting - (shares.get(partition) ?? 0)));
      if (level === 0) next = partition + 1;
    }
  }
  // What no partition needs is spread evenly.
  const even = active.length > 0 ? Math.floor(rest / active.length) : 0;
  for (const { partition } of active) add(partition, even);
  for (const { partition } of active.slice(0, rest)) add(partition, 1);
  return { shares, first: next };
}

function inTurn(uses: readonly Use[], first: number): Use[] {
  const at = uses.findIndex(({ partition }) => partition >= first);
  return at < 0 ? [...uses] : [...uses.slice(at), ...uses.slice(0, at)];
}

/**
 * The next step from the shares as they are towards a division. A share is lowered at once. It is raised by no more
 * than what is free: the limit less all that may be in use, at the old shares or the new ones. So what was lowered
 * is free in a later step, after the partition has noted it.
 * @param first with which partition the last division began. The rotation goes on when all have their shares
 */
export function stepTowards(limit: number, uses: readonly Use[], wanted: Division, first: number): Division {
  const claims = new Map(
    uses.map(({ partition, share, used }) => [
      partition,
      share === null ? Number.POSITIVE_INFINITY : Math.max(share, used),
    ]),
  );
  let free = limit - [...claims.values()].reduce((sum, claim) => sum + claim, 0);
  // More may be in use than the limit allows: nothing new begins until that has ended.
  if (free < 0) return { shares: new Map(uses.map(({ partition }) => [partition, 0])), first };
  const shares = new Map<number, number>();
  for (const { partition, share } of inTurn(uses, first)) {
    const target = wanted.shares.get(partition) ?? 0;
    const claim = claims.get(partition) ?? 0;
    const reached = Math.min(target, claim + free);
    const raised = Math.max(reached, Math.min(target, share ?? 0));
    shares.set(partition, raised);
    free -= Math.max(0, raised - claim);
  }
  const isReached = uses.every(({ partition }) => shares.get(partition) === wanted.shares.get(partition));
  return { shares, first: isReached ? wanted.first : first };
}
