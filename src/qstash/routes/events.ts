import type { Open } from "../../open/opening.ts";
import { json } from "../../respond.ts";
import { readWhole } from "../durations.ts";
import { atOnce } from "../at-once.ts";
import { badRequest } from "../failure.ts";
import { readFilters, valuesIn } from "../lists/filters.ts";
import { LIVE } from "../lists/live-messages.ts";
import { LOG_STATES, type LoggedMessage, loggedMessage, shownLogged } from "../lists/logs.ts";
import { placeIfAny } from "../message.ts";
import type { Session } from "../session.ts";
import { listsOf, type TaskList, taskPages } from "../lists/task-pages.ts";
import type { Dialect, DialectApp } from "./dialect.ts";

/** Most messages of a page. */
const MOST = 1_000;

/** Most pages that one call reads for a message that filters choose: each is a request. */
const MOST_PAGES = 20;

const IN_PROGRESS = ["ACTIVE", "RETRY", "ERROR"];

const COMPLETED = { state: "completed" } as const;
const DEAD = { state: "rejected" } as const;
const CANCELLED = { state: "rejected", reason: "cancelled" } as const;

/** The lists that have messages with an entry of a state. @default all */
const LISTS: Readonly<Record<string, readonly Omit<TaskList, "queue">[]>> = {
  DELIVERED: [COMPLETED],
  FAILED: [DEAD],
  CANCELED: [CANCELLED],
  IN_PROGRESS: LIVE,
};

/** `GET /v2/logs` and `GET /v2/events`: what has happened to messages. */
export function eventRoutes(app: DialectApp, dialect: Dialect): void {
  for (const path of ["/v2/logs", "/v2/events"])
    app.get(path, async (c) => {
      const { entries, cursor } = await readLogs(dialect.session(c), new URL(c.req.url).searchParams);
      // The client reads `events`, and the documentation has `logs`.
      return json({ cursor, events: entries, logs: entries });
    });
}

/**
 * Reads a page of the logs: the entries of a page of messages, first of those that are not delivered yet.
 * @throws {Failure} 400
 */
async function readLogs(session: Session, query: URLSearchParams) {
  const { matches } = readFilters(query, ["count", "cursor", "order", "state", "messageIds", "api"]);
  const wanted = valuesIn(query, "state").map((state) => (state === "CANCELLED" ? "CANCELED" : state));
  for (const state of wanted)
    if (state !== "IN_PROGRESS" && !LOG_STATES.includes(state as never))
      throw badRequest(`invalid state: ${state}; it must be IN_PROGRESS or one of ${LOG_STATES.join(", ")}`);
  const states = new Set(wanted.flatMap((state) => (state === "IN_PROGRESS" ? IN_PROGRESS : state)));
  const order = query.get("order") ?? "latestFirst";
  const direction = order === "earliestFirst" ? 1 : -1;

  const entriesOf = async (logged: LoggedMessage) => {
    const { messageId, message } = logged;
    const chosen = logged.events.filter(
      ({ time, state }) =>
        (states.size === 0 || states.has(state)) && matches({ message, messageId, createdAt: time }),
    );
    if (chosen.length === 0) return [];
    const shown = await shownLogged(logged);
    return chosen.map((event) => ({ ...shown, ...event }));
  };
  const inOrder = async (messages: readonly LoggedMessage[]) => {
    const entries = (await Promise.all(messages.map(entriesOf))).flat();
    // Of entries of the same time the later one of a message is further back in its list.
    const sorted = entries.toSorted((one, other) => one.time - other.time);
    return direction < 0 ? sorted.toReversed() : sorted;
  };

  const ids = [...valuesIn(query, "messageIds"), ...valuesIn(query, "messageId")];
  if (ids.length > 0) {
    const found = await atOnce(session, ids, find);
    return { entries: await inOrder(found.flatMap((one) => one ?? [])), cursor: undefined };
  }

  const size = Math.min(readWhole(query.get("count") ?? "100", "count", 1), MOST);
  const [only = ""] = wanted.length === 1 ? wanted : [];
  const lists = listsOf(...(LISTS[only] ?? [...LIVE, COMPLETED, DEAD, CANCELLED]));
  const options = { size, reverse: direction < 0, cursor: query.get("cursor") ?? undefined };
  let pages = 0;
  for await (const { queue, tasks, cursor } of taskPages(session, lists, options)) {
    const entries = await inOrder(tasks.flatMap((task) => loggedMessage(queue, task) ?? []));
    if (entries.length > 0 || ++pages === MOST_PAGES) return { entries, cursor };
  }
  return { entries: [], cursor: undefined };
}

async function find(open: Open, messageId: string): Promise<LoggedMessage | undefined> {
  const place = placeIfAny(messageId);
  const task = place && (await open(place.queue).queue().get(place.id, { payload: true }));
  return task ? loggedMessage(place.queue, task) : undefined;
}
