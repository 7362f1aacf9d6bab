import * as v from "valibot";
import { InstanceMemory } from "../../kernel/instance-memory.ts";
import { operatorOf } from "../../open/operator.ts";
import type { GroupInfo } from "../../operate/groups.ts";
import { atOnce } from "../at-once.ts";
import { badRequest, Failure, notFound } from "../failure.ts";
import { ordered } from "../message.ts";
import { type Session, timeOf } from "../session.ts";

/** A queue of QStash, as `Records` of the kind `queues` keep it by its name. What it does is in the settings of its group. */
export interface QueueRecord {
  readonly createdAt: number;
  readonly updatedAt: number;
}

/** A queue as QStash shows it. */
export interface ShownQueue extends QueueRecord {
  readonly name: string;
  readonly parallelism: number;
  readonly paused: boolean;
  /** How many messages have not been delivered, without those that wait for a time. */
  readonly lag: number;
}

const upsert = v.object({
  queueName: v.string(),
  parallelism: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000)), 1),
  paused: v.optional(v.boolean()),
});

/** The name of a queue of QStash, which is a group here. @throws {Failure} 400 */
export function queueNameOf(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(name)) return name;
  throw badRequest(
    `invalid queue name: ${name}; it must be 1 to 128 of A-Z a-z 0-9 . _ -, and begin with a letter or a digit`,
  );
}

/** How long an instance takes a queue for known, ms. */
const KNOWN_FOR = 60_000;

const known = new InstanceMemory<number>();

/**
 * Creates a queue, or changes it. With a parallelism of 1 its messages are delivered in their order.
 * @throws {Failure} 400
 */
export async function upsertQueue(session: Session, body: unknown): Promise<void> {
  const parsed = v.safeParse(upsert, body);
  if (!parsed.success)
    throw badRequest(
      "invalid queue: the body must be { queueName, parallelism?, paused? }, with a parallelism of at least 1",
    );
  const { queueName, parallelism, paused } = parsed.output;
  const name = queueNameOf(queueName);
  await operatorIn(session).configureGroup(name, {
    ...(parallelism === 1
      ? { order: "strict", maxWorking: null }
      : { order: "none", maxWorking: parallelism }),
    paused,
  });
  await touch(session, name);
}

/** Notes that a queue exists, at most once a minute: a message creates the queue that it is enqueued to. */
export async function noteQueue(session: Session, name: string): Promise<void> {
  const { transport, prefix } = session.open(ordered).options;
  const key = `${prefix} ${name}`;
  if ((known.get(transport, key) ?? 0) > performance.now()) return;
  const now = timeOf(session);
  let isNew = false;
  await recordsOf(session).change(name, (before) => {
    isNew = before === undefined;
    return before ?? { createdAt: now, updatedAt: now };
  });
  // The declared order is applied by the first cron, perhaps after the first messages.
  if (isNew) await operatorIn(session).configureGroup(name, { order: "strict" });
  known.set(transport, key, performance.now() + KNOWN_FOR);
}

/** @throws {Failure} 404 */
export async function readQueue(session: Session, name: string): Promise<ShownQueue> {
  return shown(await existing(session, name), await operatorIn(session).groupSettings(name));
}

/** All queues, by name. */
export async function listQueues(session: Session): Promise<ShownQueue[]> {
  const all = [...(await recordsOf(session).list())].toSorted(([one], [other]) => (one < other ? -1 : 1));
  return atOnce(session, all, async (open, [name, record]) => {
    return shown(record, await operatorIn({ open }).groupSettings(name));
  });
}

/** @throws {Failure} 404 */
export async function pauseQueue(session: Session, name: string, paused: boolean): Promise<void> {
  await existing(session, name);
  await operatorIn(session).configureGroup(name, { paused: paused || null });
  await touch(session, name);
}

/**
 * Removes a queue, and cancels its messages that are not being delivered.
 * @param budget ms
 * @throws {Failure} 400; 503 if messages are left when the budget ends
 */
export async function removeQueue(session: Session, name: string, budget: number): Promise<void> {
  const group = queueNameOf(name);
  const operator = operatorIn(session);
  for (const state of ["pending", "delayed"] as const) {
    const { cursor } = await operator.purge({ state, group, budget });
    if (cursor !== null) throw new Failure(503, `queue ${name} still has messages; delete it again`);
  }
  await operator.configureGroup(group, { order: null, maxWorking: null, paused: null });
  await recordsOf(session).remove(name);
  const { transport, prefix } = session.open(ordered).options;
  known.delete(transport, `${prefix} ${name}`);
}

async function existing(session: Session, name: string): Promise<QueueRecord> {
  const record = await recordsOf(session).get(queueNameOf(name));
  if (!record) throw notFound(`queue ${name}`);
  return record;
}

async function touch(session: Session, name: string): Promise<void> {
  const now = timeOf(session);
  await recordsOf(session).change(name, (before) => ({
    createdAt: before?.createdAt ?? now,
    updatedAt: now,
  }));
}

const operatorIn = ({ open }: Pick<Session, "open">) => operatorOf(open(ordered));

const recordsOf = (session: Session) => session.records<QueueRecord>("queues");

const shown = ({ createdAt, updatedAt }: QueueRecord, group: GroupInfo): ShownQueue => ({
  name: group.group,
  createdAt,
  updatedAt,
  parallelism: group.order === "none" ? (group.maxWorking ?? 1) : 1,
  paused: group.paused,
  lag: group.ready + group.working + group.limited + group.inLine,
});
