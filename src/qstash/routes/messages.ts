import { json } from "../../respond.ts";
import { operatorOf } from "../../open/operator.ts";
import { MAX_BATCH } from "../../kernel/options/limits.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { readWhole } from "../durations.ts";
import { badRequest, Failure, notFound } from "../failure.ts";
import { type LiveMessage, livePages } from "../lists/live-messages.ts";
import { type Filtered, readFilters, valuesIn } from "../lists/filters.ts";
import { type Message, placeOf, type PlacedMessage, placesOf } from "../message.ts";
import type { Session } from "../session.ts";
import { shownRequest } from "../lists/shown.ts";
import type { Dialect, DialectApp } from "./dialect.ts";

/** Messages of a page, if the request does not say. */
const PAGE = 100;

/** `GET /v2/messages/{id}`, `DELETE /v2/messages/{id}`, `GET /v2/messages` and `DELETE /v2/messages`. */
export function messageRoutes(app: DialectApp, dialect: Dialect): void {
  app.get("/v2/messages/:id", async (c) => {
    const messageId = c.req.param("id");
    const { queue, id } = placeOf(messageId);
    const task = await dialect.session(c).open(queue).queue().get(id, { payload: true });
    const message = task?.payload as Partial<Message> | undefined;
    const isLive = task && task.state !== "completed" && task.state !== "rejected";
    if (!isLive || message?.url === undefined) throw notFound(`message ${messageId}`);
    return json(await shown({ messageId, message: message as Message, createdAt: task.enqueuedAt }));
  });

  app.get("/v2/messages", async (c) => {
    const query = new URL(c.req.url).searchParams;
    const { matches } = readFilters(query, ["count", "cursor"]);
    const count = readWhole(query.get("count") ?? String(PAGE), "count", 1);
    const found: LiveMessage[] = [];
    let cursor: string | undefined;
    for await (const page of livePages(
      dialect.session(c),
      Math.min(count, MAX_BATCH),
      query.get("cursor") ?? undefined,
    )) {
      found.push(...page.live.filter(matches));
      cursor = page.cursor;
      if (found.length > 0) break;
    }
    return json({ messages: await Promise.all(found.map(shown)), cursor });
  });

  app.delete("/v2/messages/:id", async (c) => {
    const messageId = c.req.param("id");
    const cancelled = await cancel(dialect.session(c), [placeOf(messageId)]);
    if (cancelled === 0) throw notFound(`message ${messageId}`);
    return json({ cancelled });
  });

  app.delete("/v2/messages", async (c) => {
    const session = dialect.session(c);
    const query = new URL(c.req.url).searchParams;
    const ids = valuesIn(query, "messageIds");
    if (ids.length > 0) return json({ cancelled: await cancel(session, placesOf(ids)) });
    const { matches } = readFilters(query, ["count", "cursor"]);
    if (query.size === 0)
      throw badRequest("name the messages: by messageIds, by filters, or all of them by count");
    const until = performance.now() + dialect.budget;
    let cancelled = 0;
    for await (const { queue, live, cursor } of livePages(session, MAX_BATCH)) {
      const own = live.filter(matches).map(({ id }) => ({ queue, id }));
      cancelled += await cancel(session, own);
      // The client takes any answer for the whole.
      if (cursor !== undefined && performance.now() > until)
        throw new Failure(503, `${cancelled} messages were cancelled in time; call again for the others`);
    }
    return json({ cancelled });
  });
}

async function shown({ messageId, message, createdAt }: Filtered) {
  return { messageId, createdAt, ...(await shownRequest(message)) };
}

/** Cancels messages. A request for each hundred. @returns how many were not delivered yet */
async function cancel(session: Session, placed: readonly PlacedMessage[]): Promise<number> {
  let cancelled = 0;
  for (const queue of new Set(placed.map((one) => one.queue))) {
    const operator = operatorOf(session.open(queue));
    const ids = placed.flatMap((one) => (one.queue === queue ? one.id : []));
    for (const slice of slicesOf(ids, MAX_BATCH))
      cancelled += (await operator.cancelMany(slice)).filter(({ ok }) => ok).length;
  }
  return cancelled;
}
