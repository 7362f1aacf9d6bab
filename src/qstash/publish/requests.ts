import { toBase64 } from "../../base64.ts";
import { MAX_BATCH, MAX_VALUE_BYTES } from "../../kernel/options/limits.ts";
import type { NewTask } from "../../kernel/options/types.ts";
import { byteLength } from "../../kernel/record/byte-length.ts";
import { badRequest, Failure, missing, notFound } from "../failure.ts";
import { applyFlowControls } from "../flow-control/limits.ts";
import { type Draft, type LowerHeaders, readHeaders } from "./headers.ts";
import { type Message, messageId, messages, ordered } from "../message.ts";
import { noteQueue } from "../kept/queues.ts";
import type { Session } from "../session.ts";
import { checkTarget } from "../target.ts";
import type { UrlGroup } from "../kept/url-groups.ts";

/** A request to publish. */
export interface PublishRequest {
  /** A URL, or the name of a URL group. */
  readonly destination: string;
  /** The queue of QStash. @default none */
  readonly queue?: string | undefined;
  readonly headers: LowerHeaders;
  readonly body?: string | undefined;
  readonly isBase64?: true | undefined;
  readonly callerIp?: string | undefined;
  readonly scheduleId?: string | undefined;
  /** The id of its task, so that a repeat adds nothing; of a URL group it is followed by a number. @default a new one */
  readonly id?: string | undefined;
}

/** What became of a message. */
export interface Published {
  readonly messageId: string;
  readonly url?: string;
  readonly deduplicated?: true;
}

interface Planned {
  readonly queue: string;
  readonly task: NewTask<Message> & Draft["options"];
  /** Of its payload. */
  readonly bytes: number;
}

/** Most bytes of the payloads of one request to Redis, except of a single one. */
const MOST_BYTES = 5_000_000;

/**
 * Publishes: one request to Redis for all that goes to URLs, and one for all that goes to queues; more if they are large.
 * @returns for each request a result, or if it went to a URL group an array of them
 * @throws {Failure} 400, 404; nothing was published
 */
export async function publish(
  session: Session,
  requests: readonly PublishRequest[],
): Promise<(Published | Published[])[]> {
  const nameOf = (i: number) => (requests.length > 1 ? `message ${i}: ` : "");
  const plans = await Promise.all(requests.map((request, i) => planned(session, request, nameOf(i))));
  const all = plans.flatMap(({ tasks }) => tasks);
  await applyFlowControls(
    session,
    all.flatMap(({ task: { payload, delay, at } }) => {
      const { flowControl: limits } = payload;
      return limits ? { key: limits.key, limits, due: { delay, at } } : [];
    }),
  );
  for (const queue of new Set(requests.flatMap((request) => request.queue ?? [])))
    await noteQueue(session, queue);
  const published = new Map<Planned, Published>();
  for (const queue of [messages, ordered]) {
    const own = all.filter((one) => one.queue === queue.name);
    for (const slice of inRequests(own)) {
      const tasks = slice.map(({ task }) => task);
      const added = await session.open(queue).queue().enqueueMany(tasks);
      for (const [i, { id, created }] of added.entries()) {
        const { url } = (tasks[i] as NewTask<Message>).payload;
        const reply = { messageId: messageId({ queue: queue.name, id }), url };
        published.set(slice[i] as Planned, created ? reply : { ...reply, deduplicated: true });
      }
    }
  }
  return plans.map(({ tasks, isGroup }) => {
    const replies = tasks.map((task) => published.get(task) as Published);
    return isGroup ? replies : (replies[0] as Published);
  });
}

/**
 * Checks a request that will be published later.
 * @throws {Failure} 400, 404
 */
export async function checkPublish(session: Session, request: PublishRequest): Promise<void> {
  await planned(session, request);
}

/** The messages of each request. */
function inRequests(all: readonly Planned[]): Planned[][] {
  const slices: Planned[][] = [];
  let sum = 0;
  for (const one of all) {
    const slice = slices.at(-1);
    sum += one.bytes;
    if (slice && slice.length < MAX_BATCH && sum <= MOST_BYTES) slice.push(one);
    else {
      slices.push([one]);
      sum = one.bytes;
    }
  }
  return slices;
}

/** @param name of the message, for errors. @default none */
async function planned(session: Session, request: PublishRequest, name = ""): Promise<Plan> {
  try {
    return await plannedOne(session, request);
  } catch (error) {
    throw error instanceof Failure ? new Failure(error.status, name + error.message) : error;
  }
}

interface Plan {
  readonly tasks: readonly Planned[];
  readonly isGroup: boolean;
}

/** Checks all that Redis or the queue might refuse, so that of a batch with such a message nothing is published. */
async function plannedOne(session: Session, request: PublishRequest): Promise<Plan> {
  const { destination, queue, id } = request;
  const draft = readHeaders(request.headers);
  const { callback, failureCallback, flowControl } = draft.message;
  for (const target of [callback, failureCallback]) if (target) checkTarget(target.url, session.settings);
  if (queue !== undefined && flowControl)
    throw badRequest("a message of a queue has no flow control: the limit of a queue is its parallelism");
  const its = queue === undefined ? messages : ordered;
  const limit = session.open(its).options.offload?.maxBytes ?? MAX_VALUE_BYTES;
  const targets = await targetsOf(session, destination);
  const tasks = targets.map(async (target, i): Promise<Planned> => {
    const { url, ...ofGroup } = target;
    checkTarget(url, session.settings);
    const { body, isBase64, callerIp, scheduleId } = request;
    const message = {
      url,
      ...draft.message,
      body,
      isBase64,
      ...ofGroup,
      queueName: queue,
      callerIp,
      scheduleId,
    };
    const key = await dedupKey(request, draft, target.topicName === undefined ? undefined : target);
    const text = JSON.stringify(message);
    const bytes = byteLength(text);
    if (bytes > limit)
      throw new Failure(413, `the message has ${bytes} bytes as JSON; at most ${limit} are allowed`);
    return {
      queue: its.name,
      bytes,
      task: {
        ...draft.options,
        payload: JSON.parse(text) as Message,
        group: queue ?? flowControl?.key,
        id: id === undefined ? undefined : ofGroup.topicName === undefined ? id : `${id}.${i}`,
        ...(key !== undefined && { dedup: { key, window: DEDUPLICATED_FOR } }),
      },
    };
  });
  return { tasks: await Promise.all(tasks), isGroup: targets[0]?.topicName !== undefined };
}

/** For how long QStash knows the id of a deduplication. */
const DEDUPLICATED_FOR = "90d";

type Target = Pick<Message, "url" | "topicName" | "endpointName">;

/** Where a message goes: one URL, or those of a URL group. */
async function targetsOf(session: Session, destination: string): Promise<Target[]> {
  // Proxies may have made one slash of two.
  const [, scheme, rest] = /^(https?):\/{1,2}(.+)$/i.exec(destination) ?? [];
  if (scheme !== undefined) return [{ url: `${scheme.toLowerCase()}://${rest}` }];
  if (destination.startsWith("api/"))
    throw missing(
      `the destination ${destination}`,
      "publish to the URL of the provider, with its key in Upstash-Forward-Authorization",
    );
  if (!/^[A-Za-z0-9._-]+$/.test(destination))
    throw badRequest(
      `invalid destination: ${destination}; it must be a URL that begins with http:// or https://, or a URL group`,
    );
  const group = await session.records<UrlGroup>("url-groups").get(destination);
  if (!group) throw notFound(`URL group ${destination}`);
  if (group.endpoints.length === 0) throw badRequest(`URL group ${destination} has no endpoints`);
  return group.endpoints.map(({ url, name }) => ({ url, topicName: destination, endpointName: name }));
}

/** The key that makes a message unique; undefined if nothing does. */
async function dedupKey(
  { destination, queue = "", headers, body = "", isBase64 }: PublishRequest,
  { deduplication }: Draft,
  ofGroup: Target | undefined,
): Promise<string | undefined> {
  if (deduplication === undefined) return undefined;
  const sent = Object.entries(headers).filter(([name]) =>
    /^(?:content-type$|upstash-(?!telemetry-))/.test(name),
  );
  const what =
    deduplication === true
      ? [
          destination,
          queue,
          sent.toSorted(([one], [other]) => (one < other ? -1 : 1)),
          body,
          isBase64 === true,
        ]
      : [deduplication];
  const text = JSON.stringify([...what, ...(ofGroup ? [ofGroup.topicName, ofGroup.url] : [])]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `d${toBase64(new Uint8Array(digest)).replaceAll("=", "")}`;
}
