import type { RequestContext } from "../../http/services.ts";
import { operatorOf } from "../../open/operator.ts";
import type { Open } from "../../open/opening.ts";
import { json } from "../../respond.ts";
import { atOnce } from "../at-once.ts";
import { type DeadMessage, deadMessage, readDead, shownDead } from "../lists/dead-messages.ts";
import { badRequest, missing, notFound } from "../failure.ts";
import { valuesIn } from "../lists/filters.ts";
import { messageId, placeIfAny, type PlacedMessage, placeOf, placesOf } from "../message.ts";
import type { Session } from "../session.ts";
import type { Dialect, DialectApp } from "./dialect.ts";
import { done } from "./requests.ts";

/** `/v2/dlq`: dead letters. The id of one is that of its message. */
export function dlqRoutes(app: DialectApp, dialect: Dialect): void {
  app.get("/v2/dlq", async (c) => {
    const session = dialect.session(c);
    const query = queryOf(c);
    const ids = valuesIn(query, "dlqIds");
    const found = await atOnce(session, ids, find);
    const { dead, cursor } =
      ids.length > 0 ? { dead: found, cursor: undefined } : await readDead(session, query);
    const shown = dead.flatMap((one) => (one ? shownDead(one) : []));
    return json({ messages: await Promise.all(shown), cursor });
  });

  app.post("/v2/dlq/retry", async (c) => {
    checkNoSettings(c);
    const session = dialect.session(c);
    const query = queryOf(c);
    const { placed, cursor } = await chosen(session, query);
    const retried = await retry(session, placed);
    if (retried.length === 0 && query.has("dlqIds")) throw notFound("dead letters with these ids");
    return json({ responses: retried.map((one) => ({ messageId: messageId(one) })), cursor }, 201);
  });

  app.post("/v2/dlq/retry/:id", async (c) => {
    checkNoSettings(c);
    const id = c.req.param("id");
    const [retried] = await retry(dialect.session(c), [placeOf(id)]);
    if (!retried) throw notFound(`dead letter ${id}`);
    return json({ messageId: id }, 201);
  });

  app.get("/v2/dlq/:id", async (c) => {
    const id = c.req.param("id");
    const dead = await find(dialect.session(c).open, id);
    if (!dead) throw notFound(`dead letter ${id}`);
    return json(await shownDead(dead));
  });

  app.delete("/v2/dlq", async (c) => {
    const session = dialect.session(c);
    const { placed, cursor } = await chosen(session, queryOf(c));
    return json({ deleted: await remove(session, placed), cursor });
  });

  app.delete("/v2/dlq/:id", async (c) => {
    const id = c.req.param("id");
    if ((await remove(dialect.session(c), [placeOf(id)])) === 0) throw notFound(`dead letter ${id}`);
    return done();
  });
}

const queryOf = (c: RequestContext) => new URL(c.req.url).searchParams;

/** QStash changes what is retried to the settings of these headers. @throws {Failure} 501 */
function checkNoSettings(c: RequestContext): void {
  for (const name of c.req.raw.headers.keys())
    if (/^upstash-(?!telemetry-)/.test(name))
      throw missing(`the header ${name} of a retry`, "publish the message again with other settings");
}

async function find(open: Open, text: string): Promise<DeadMessage | undefined> {
  const place = placeIfAny(text);
  if (!place) return undefined;
  const task = await open(place.queue).queue().get(place.id, { payload: true });
  if (task?.state !== "rejected" || task.reason === "cancelled") return undefined;
  return deadMessage(place.queue, task);
}

/** The dead letters that a request is about: by their ids, or those of a page. @throws {Failure} 400 */
async function chosen(session: Session, query: URLSearchParams) {
  const ids = valuesIn(query, "dlqIds");
  if (ids.length > 0) return { placed: placesOf(ids), cursor: undefined };
  if (query.size === 0)
    throw badRequest("name the dead letters: by dlqIds, by filters, or all of them by count");
  const { dead, cursor } = await readDead(session, query);
  return { placed: dead as readonly PlacedMessage[], cursor };
}

/** @returns those that were dead letters */
async function retry(session: Session, placed: readonly PlacedMessage[]): Promise<PlacedMessage[]> {
  return eachQueue(session, placed, async (operator, ids) => {
    const { refused } = await operator.redrive({ ids });
    return ids.filter((id) => !refused.some((one) => one.id === id));
  });
}

/** @returns how many were dead letters */
async function remove(session: Session, placed: readonly PlacedMessage[]): Promise<number> {
  const removed = await eachQueue(session, placed, async (operator, ids) => {
    // Records of messages that were delivered or cancelled stay.
    const { refused } = await operator.redrive({ ids, dryRun: true });
    const dead = ids.filter((id) => !refused.some((one) => one.id === id));
    return dead.length === 0 ? [] : (await operator.removeMany(dead)).flatMap(({ id, ok }) => (ok ? id : []));
  });
  return removed.length;
}

async function eachQueue(
  { open }: Session,
  placed: readonly PlacedMessage[],
  call: (operator: ReturnType<typeof operatorOf>, ids: string[]) => Promise<readonly string[]>,
): Promise<PlacedMessage[]> {
  const all: PlacedMessage[] = [];
  for (const queue of new Set(placed.map((one) => one.queue))) {
    const ids = placed.flatMap((one) => (one.queue === queue ? one.id : []));
    for (const id of await call(operatorOf(open(queue)), [...new Set(ids)])) all.push({ queue, id });
  }
  return all;
}
