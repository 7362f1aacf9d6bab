import { Command, Option } from "commander";
import { counted } from "../../counted.ts";
import type { TopicFilter } from "../../features/topics/index.ts";
import type { Duration } from "../../kernel/options/duration.ts";
import { nearestName } from "../../nearest-name.ts";
import { Refusal, UsageError } from "../exit.ts";
import { json, since } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { knownOrNewQueue, newOption, noteNewQueue } from "../unknown-queue.ts";
import { noteWake } from "../wake-note.ts";

interface SubscribeCommandOptions {
  readonly header?: string;
  readonly in?: readonly string[];
  readonly filter?: TopicFilter;
  readonly since?: Duration | Date;
  readonly new?: boolean;
}

export function subscribeCommand(running: Running): Command {
  const command = new Command("subscribe")
    .summary("give a queue a copy of each message of a topic")
    .description(
      "Subscribes a queue to a topic, or to a pattern: * is one word between dots, # any number of words. A subscription that is there gets this filter. Deployments do not change it.",
    )
    .argument("<queue>")
    .argument("<topic>", "such as orders, 'orders.*' or 'orders.#'")
    .option("--header <name>", "with --in: only messages whose header is one of these texts")
    .addOption(
      new Option("--in <texts>", "one or several with commas: --header region --in eu,us").argParser((text) =>
        text.split(","),
      ),
    )
    .addOption(
      new Option(
        "--filter <json>",
        'only messages that meet this, such as \'{"header": "test", "exists": false}\', or all of a list',
      ).argParser(json),
    )
    .addOption(
      new Option(
        "--since <time>",
        "a new one also gets what the topic has kept since: 2h (ago), 02:00",
      ).argParser(since),
    )
    .addOption(newOption());
  return operation(
    running,
    command,
    async (session: Session, options: SubscribeCommandOptions, queue: string, topic: string) => {
      const { api, out } = session;
      const given = { filter: filterOf(options), since: options.since };
      const unknown = await knownOrNewQueue(session, queue, options.new);
      const done = await api.run((request) => api.topics.subscribe(queue, topic, { ...given, ...request }));
      const { created, replayed } = done;
      const was = created ? "" : " It was before; this is its filter now.";
      const past = replayed ? ` It got ${counted(replayed.messages, "message")} of before.` : "";
      out.value(done, `Subscribed ${queue} to ${topic}.${was}${past}`);
      noteNewQueue(session, queue, unknown);
      if (replayed?.more) out.note("The next sweeps add the rest.");
      if (replayed && replayed.messages > 0) noteWake(session);
    },
  );
}

/** @throws {UsageError} */
function filterOf({ header, in: texts, filter }: SubscribeCommandOptions): TopicFilter | undefined {
  if ((header === undefined) !== (texts === undefined))
    throw new UsageError("give --header and --in together");
  if (header === undefined || texts === undefined) return filter;
  if (filter !== undefined) throw new UsageError("give either --filter, or --header and --in");
  return { header, in: texts };
}

export function unsubscribeCommand(running: Running): Command {
  const command = new Command("unsubscribe")
    .summary("end the subscription of a queue to a topic")
    .description(
      "Ends the subscription of a queue to a topic or a pattern. Its tasks stay. A declared one comes back when its declaration changes.",
    )
    .argument("<queue>")
    .argument("<topic>", "as it was subscribed");
  return operation(running, command, async (session: Session, _: unknown, queue: string, topic: string) => {
    const { api, out } = session;
    const removed = await api.run((request) => api.topics.unsubscribe(queue, topic, request));
    if (!removed) throw await notSubscribed(session, queue, topic);
    out.value({ queue, topic, removed }, `${queue} gets no more messages of ${topic}.`);
  });
}

/** The error for a queue that has not subscribed, with the most similar topic that it has. */
async function notSubscribed({ api }: Session, queue: string, topic: string): Promise<Refusal> {
  const all = await api.run((request) => api.topics.subscriptions(request));
  const topics = all.filter((one) => one.queue === queue).map((one) => one.topic);
  const nearest = nearestName(topic, topics);
  const meant = nearest === undefined ? "" : `; did you mean ${nearest}?`;
  return new Refusal(`${queue} is not subscribed to ${topic}${meant}`);
}
