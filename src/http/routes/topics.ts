import { fetchTopics } from "../../features/topics/index.ts";
import { matchesWords } from "../../kernel/names/word-pattern.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import { SluiceError } from "../../errors.ts";
import { type Open, opening } from "../../open/opening.ts";
import { type Published, PublishError } from "../../open/topics/publish.ts";
import { refOf, Topics } from "../../open/topics/topics.ts";
import type { AppRoutes } from "../app-part.ts";
import type { Scope } from "../auth/tokens.ts";
import { Problem } from "../problems/problem.ts";
import { budgetOf, readBody, readPath, readQuery, requestOptions } from "../request/read.ts";
import * as schemas from "../request-schemas/topics.ts";
import type * as replies from "../response-schemas/topics.ts";
import { reply } from "../responses/reply.ts";
import type { RequestContext, Services } from "../services.ts";

/** The routes of topics. They are loaded at the first request to one of them. */
export const topicRoutes: AppRoutes = {
  mount(app, services) {
    const { allow } = services;
    const topicsIn = (c: RequestContext) => new Topics({ open: openIn(c, services) });

    app.post("/v1/topics/:topic/publish", allow("enqueue"), async (c) => {
      const options = requestOptions(c);
      const { topic: name } = readPath(c, schemas.topicInPath);
      requireTopic(c, "enqueue", name);
      const body = await readBody(c, services, newMessageOrMessages);
      const topic = topicsIn(c).topic(name);
      const refused = (error: unknown): never => {
        if (error instanceof PublishError) throw partlyPublished(error, c, services);
        return asUnsupported(error);
      };
      if ("messages" in body) {
        const all = await topic.publishMany(body.messages, options).catch(refused);
        const messages = all.map(shown);
        return reply<typeof replies.publishedMany>({ messages }, statusOf(all));
      }
      const { payload, ...rest } = body;
      const one = await topic.publish(payload, { ...rest, ...options }).catch(refused);
      return reply<typeof replies.publishedOne>(shown(one), statusOf([one]));
    });

    app.post("/v1/topics/:topic/preview", allow("enqueue"), async (c) => {
      const { signal } = requestOptions(c);
      const { topic } = readPath(c, schemas.topicInPath);
      requireTopic(c, "enqueue", topic);
      const { headers } = await readBody(c, services, schemas.preview, "optional");
      return reply<typeof replies.preview>(await topicsIn(c).topic(topic).preview({ headers, signal }));
    });

    app.get("/v1/topics", allow("view"), async (c) => {
      readQuery(c);
      const { subscriptions } = await topicsFor(c, services);
      return reply<typeof replies.topics>({ subscriptions });
    });

    app.get("/v1/topics/:topic", allow("view"), async (c) => {
      readQuery(c);
      const { topic } = readPath(c, schemas.topicInPath);
      const { subscriptions, retained } = await topicsFor(c, services, topic);
      const { for: time, bytes } = retained.get(topic) ?? {};
      const retain = time !== undefined && bytes !== undefined ? { for: time, bytes } : null;
      return reply<typeof replies.topic>({ topic, subscriptions, retain });
    });

    app.put("/v1/topics/:pattern/subscriptions/:queue", allow("admin"), async (c) => {
      const { signal } = requestOptions(c);
      const { pattern: topic } = readPath(c, schemas.patternInPath);
      requireTopic(c, "admin", topic);
      const { filter, since } = await readBody(c, services, schemas.subscription, "optional");
      const { name } = c.get("open");
      const options = { filter, since: since === undefined ? since : sinceOf(since), signal };
      const done = await topicsIn(c).subscribe(name, topic, options).catch(asUnsupported);
      return reply<typeof replies.subscribed>(done, done.created ? 201 : 200);
    });

    app.delete("/v1/topics/:pattern/subscriptions/:queue", allow("admin"), async (c) => {
      const { signal } = requestOptions(c);
      const { pattern: topic } = readPath(c, schemas.patternInPath);
      const { name: queue } = c.get("open");
      const removed = await topicsIn(c).unsubscribe(queue, topic, { signal });
      return reply<typeof replies.unsubscribed>({ topic, queue, removed });
    });

    app.post("/v1/topics/:topic/subscriptions/:queue/replay", allow("admin"), async (c) => {
      const { signal } = requestOptions(c);
      const { topic } = readPath(c, schemas.topicInPath);
      requireTopic(c, "admin", topic);
      const { budget, since } = await readBody(c, services, schemas.replay);
      const { name: queue } = c.get("open");
      const options = { since: sinceOf(since), budget: budgetOf(services, budget), signal };
      const done = await topicsIn(c)
        .replay(queue, topic, options)
        .catch((error: unknown) => {
          if (error instanceof SluiceError && error.path === "queue") throw notSubscribed();
          return asUnsupported(error);
        });
      return reply<typeof replies.replay>({ topic, queue, ...done });
    });
  },
};

/**
 * Opens queues with the encryption that is declared here: a message has no key of one queue, so its caller cannot encrypt
 * its copies.
 */
function openIn(c: RequestContext, services: Services): Open {
  const { encryption: _, ...options } = services.optionsOf(c);
  return opening({ ...options, tracing: services.tracing?.continuing(c.req.raw.headers) });
}

/**
 * The scope for a topic is that for a queue of its name. A pattern matches topics of any names, so it needs the scope for
 * all of them.
 * @throws {Problem} `forbidden`
 */
function requireTopic(c: RequestContext, scope: Scope, topic: string): void {
  const grants = c.get("grants");
  const isPattern = /[*#]/.test(topic);
  if (isPattern ? grants.allowsAll(scope) : grants.allows(scope, topic)) return;
  const queues = isPattern ? "all queues, which a pattern of topics needs" : `a queue named ${topic}`;
  throw new Problem("forbidden", {
    detail: `The token does not have the scope ${scope} for ${queues}.`,
    headers: { "www-authenticate": 'Bearer realm="sluice", error="insufficient_scope"' },
  });
}

/** What the caller may see of the subscriptions, of one topic or of all. */
async function topicsFor(c: RequestContext, services: Services, topic?: string) {
  const { topics } = await fetchTopics(refOf(openIn(c, services)), { signal: c.req.raw.signal });
  const grants = c.get("grants");
  const subscriptions = topics.subscriptions
    .filter((one) => grants.allows("view", one.queue))
    .filter((one) => topic === undefined || matchesWords(one.topic, topic))
    .map((one) => ({ topic: one.topic, queue: one.queue, by: one.by, filter: one.filter }));
  return { subscriptions, retained: topics.retained };
}

type Message = typeof schemas.newMessage | typeof schemas.newMessages;

/** Chooses the schema before the check, so that the errors are those of the form that the caller means. */
const newMessageOrMessages = (body: unknown): Message =>
  typeof body === "object" && body !== null && Object.hasOwn(body, "messages")
    ? schemas.newMessages
    : schemas.newMessage;

const shown = ({ id, copies, reread }: Published) => ({ id, copies, reread });

const statusOf = (all: readonly Published[]) =>
  all.some(({ copies }) => copies.some(({ created }) => created)) ? 201 : 200;

/** As the library takes it: a number is an instant here. */
const sinceOf = (since: number | (Duration & string)) =>
  typeof since === "number" ? new Date(since) : since;

/** The problem for a publish that has not reached each queue. It says which queues have a copy. */
function partlyPublished(error: PublishError, c: RequestContext, services: Services): Problem {
  const published = error.published.map(({ id, copies, failed }) => {
    return { id, copies, failed: failed.map(({ queue, code }) => ({ queue, code })) };
  });
  const sealed = published.flatMap(({ failed }) => failed).find(({ code }) => code === "undecryptable");
  const reported = sealed ? encryptedElsewhere() : services.reportedProblem(error, c);
  const { code, details } = reported;
  const why = sealed ? ` ${sealed.queue}: ${details.detail}` : "";
  return new Problem(code, {
    ...details,
    detail: `Not every queue has got its copy: \`published\` says which have. Send the request again with the same Idempotency-Key or ids: no queue gets a second copy.${why}`,
    published,
  });
}

const encryptedElsewhere = () =>
  new Problem("unsupported", {
    detail:
      "What is encrypted can be read and written only where its encryption is declared: ask the deployment that declares it.",
  });

const notSubscribed = () =>
  new Problem("not_found", { detail: "The queue has not subscribed to this topic, nor to a pattern of it." });

/** Of what a topic retains. @throws the error, or its problem if it is encrypted elsewhere */
function asUnsupported(error: unknown): never {
  throw error instanceof SluiceError && error.code === "undecryptable" ? encryptedElsewhere() : error;
}
