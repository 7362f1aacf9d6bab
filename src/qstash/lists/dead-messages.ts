/** The dead letter queue of QStash: the dead letters of both queues, as one list. */
import { operatorOf } from "../../open/operator.ts";
import type { ListedTask, ListTasksOptions } from "../../operate/list-tasks.ts";
import { readWhole } from "../durations.ts";
import { badRequest } from "../failure.ts";
import { failedDeliveryOf } from "../deliver/outcomes.ts";
import { readFilters, valuesIn } from "./filters.ts";
import { readHeaders } from "../publish/headers.ts";
import {
  type Message,
  messageId,
  messages,
  ordered,
  type PlacedMessage,
  type Publication,
} from "../message.ts";
import type { Session } from "../session.ts";
import { shownRequest } from "./shown.ts";

/** A message that is dead. */
export interface DeadMessage extends PlacedMessage {
  readonly messageId: string;
  readonly message: Message;
  readonly createdAt: number;
  /** When it died, epoch ms. */
  readonly diedAt: number;
  readonly error: unknown;
  readonly reason: string | undefined;
}

export interface DeadPage {
  readonly dead: readonly DeadMessage[];
  /** Undefined after the last page. */
  readonly cursor: string | undefined;
}

/** Most messages of a page, and of one call that changes them. */
const MOST = 1_000;

/** Most dead letters that one call looks at. */
const LOOK = 5_000;

/** Where a page ends: when a message died, and the id of its task. */
type Place = Pick<DeadMessage, "diedAt" | "id">;

/**
 * Reads a page of dead messages.
 * @param query the filters, `count`, `cursor` and `order`
 * @throws {Failure} 400
 */
export async function readDead(session: Session, query: URLSearchParams): Promise<DeadPage> {
  const own = ["count", "cursor", "order", "responseStatus"];
  for (const name of ["host", "path"])
    if (query.has(name)) throw badRequest(`the filter ${name} is not for dead letters: use url`);
  const { matches } = readFilters(query, own);
  const statuses = valuesIn(query, "responseStatus").map((text) => readWhole(text, "responseStatus"));
  const count = readWhole(query.get("count") ?? "100", "count", 1);
  const order = query.get("order") ?? "latestFirst";
  if (order !== "latestFirst" && order !== "earliestFirst")
    throw badRequest("order must be latestFirst or earliestFirst");
  const from = readCursor(query.get("cursor"));
  const direction = order === "latestFirst" ? -1 : 1;
  // With filters most of what is read may be left out.
  const isFiltered = [...query.keys()].some((name) => !["count", "cursor", "order"].includes(name));
  const size = isFiltered ? MOST : Math.min(count, MOST);
  const options = { ...boundsOf(query, from, direction), reverse: direction < 0, size };

  const lists = [messages, ordered].map((queue) => deadIn(session, queue.name, options));
  const dead: DeadMessage[] = [];
  let looked = 0;
  let last: Place | undefined;
  for await (const one of merged(lists, direction)) {
    if (from && compare(one, from) * direction <= 0) continue;
    // There are more.
    if (dead.length >= Math.min(count, MOST) || looked >= LOOK) return { dead, cursor: writeCursor(last) };
    looked++;
    last = one;
    const { responseStatus } = failedDeliveryOf(one.error) ?? {};
    const isOfStatus = statuses.length === 0 || statuses.includes(responseStatus ?? 0);
    if (isOfStatus && matches({ ...one, createdAt: one.diedAt })) dead.push(one);
  }
  return { dead, cursor: undefined };
}

/** A dead message as QStash shows it. Its id there is that of the message. */
export async function shownDead({ message, messageId: id, createdAt, error, reason }: DeadMessage) {
  const { message: fault, responseStatus, responseHeader, responseBody } = failedDeliveryOf(error) ?? {};
  return {
    ...(await shownRequest(message)),
    messageId: id,
    dlqId: id,
    createdAt,
    responseStatus,
    responseHeader,
    responseBody: responseStatus === undefined ? (fault ?? reason) : responseBody,
  };
}

/** The message of a dead letter; undefined if it is none, or its payload cannot be read. */
export function deadMessage(queue: string, task: ListedTask): DeadMessage | undefined {
  const { id, payload, enqueuedAt: createdAt, endedAt: diedAt = 0, error, reason } = task;
  const message = messageOf(payload);
  return (
    message && { queue, id, messageId: messageId({ queue, id }), message, createdAt, diedAt, error, reason }
  );
}

/** The message of a payload. What was to be published, as by a schedule, is one to its destination. */
function messageOf(payload: unknown): Message | undefined {
  const given = Object(payload) as Partial<Message & Publication>;
  if (given.url !== undefined) return given as Message;
  if (!given.publish) return undefined;
  const { destination: url, queue: queueName, headers, body, isBase64, callerIp } = given.publish;
  const { message } = readHeaders(headers);
  return { ...message, url, queueName, body, isBase64, callerIp, scheduleId: given.scheduleId };
}

async function* deadIn(
  { open }: Session,
  queue: string,
  options: Omit<ListTasksOptions, "state">,
): AsyncGenerator<DeadMessage, void, undefined> {
  const operator = operatorOf(open(queue));
  let cursor: string | undefined;
  do {
    const page = await operator.list({ ...options, state: "rejected", payloads: true, cursor });
    for (const task of page.tasks) {
      const dead = deadMessage(queue, task);
      if (dead) yield dead;
    }
    cursor = page.cursor ?? undefined;
  } while (cursor !== undefined);
}

/** What of the list cannot be in a page, so that it is not read. */
function boundsOf(query: URLSearchParams, from: Place | undefined, direction: 1 | -1) {
  const instantOf = (name: string) => (query.has(name) ? readWhole(query.get(name) ?? "", name) : undefined);
  const until = instantOf("toDate");
  const bounds = {
    endedSince: instantOf("fromDate"),
    endedUntil: until === undefined ? undefined : until + 1,
  };
  if (!from) return bounds;
  return direction < 0 ? { ...bounds, endedUntil: from.diedAt + 1 } : { ...bounds, endedSince: from.diedAt };
}

/** Merges lists that are in order. */
async function* merged(
  lists: readonly AsyncGenerator<DeadMessage, void, undefined>[],
  direction: 1 | -1,
): AsyncGenerator<DeadMessage, void, undefined> {
  const heads = await Promise.all(lists.map((list) => list.next()));
  for (;;) {
    let first: number | undefined;
    for (const [i, { value }] of heads.entries()) {
      const best = first === undefined ? undefined : heads[first]?.value;
      if (value && (!best || compare(value, best) * direction < 0)) first = i;
    }
    const list = first === undefined ? undefined : lists[first];
    if (first === undefined || !list) return;
    yield heads[first]?.value as DeadMessage;
    heads[first] = await list.next();
  }
}

/** Compares as the lists are in order: by time, then by id. */
function compare(one: Place, other: Place): number {
  return one.diedAt - other.diedAt || (one.id < other.id ? -1 : one.id > other.id ? 1 : 0);
}

const writeCursor = (place: Place | undefined) => place && `${place.diedAt}-${place.id}`;

function readCursor(text: string | null): Place | undefined {
  if (!text) return undefined;
  const [, diedAt, id] = /^(\d{1,15})-([!-~]{1,128})$/.exec(text) ?? [];
  if (id === undefined) throw badRequest("invalid cursor");
  return { diedAt: Number(diedAt), id };
}
