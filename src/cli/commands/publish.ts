import { Command, InvalidArgumentError, Option } from "commander";
import { PublishError, type Published } from "../../client/topics/index.ts";
import { counted } from "../../counted.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { json } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { type TaskOptions, withTaskOptions } from "../task-options.ts";
import { noteWake } from "../wake-note.ts";

type Headers = Readonly<Record<string, string>>;

interface PublishCommandOptions extends TaskOptions {
  readonly header?: Headers;
  readonly dryRun?: boolean;
}

export function publishCommand(running: Running): Command {
  const command = new Command("publish")
    .summary("give each queue that has subscribed to a topic a copy of a payload")
    .description(
      "Publishes a payload to a topic. Each copy is a task with these options, and with the defaults of its queue.",
    )
    .argument("<topic>")
    .argument("<payload>", "JSON, such as '{\"order\": 17}'", json)
    .addOption(
      new Option("--header <name=value...>", "headers, by which subscriptions filter").argParser(headers),
    )
    .option("--dry-run", "only show which queues would get it");
  withTaskOptions(command);
  return operation(
    running,
    command,
    async (session: Session, options: PublishCommandOptions, name: string, payload: unknown) => {
      const { api, out } = session;
      const { header, dryRun, id, delay, at, group, priority, lease, maxAttempts, unique } = options;
      const topic = api.topics.topic(name);
      if (dryRun) {
        const preview = await api.run((request) => topic.preview({ headers: header, ...request }));
        const { queues, filtered } = preview;
        const but = filtered.length > 0 ? ` Filtered: ${filtered.join(", ")}.` : "";
        return out.value(
          preview,
          `${queues.length > 0 ? queues.join(", ") : "No queue"} would get it.${but}`,
        );
      }
      const task = { id, delay, at, group, priority, lease, maxAttempts, unique, headers: header };
      try {
        const published = await api.run((request) => topic.publish(payload, { ...task, ...request }));
        out.value(published, publishedText(published));
        if (published.copies.some(({ created }) => created)) noteWake(session);
      } catch (error) {
        if (!(error instanceof PublishError)) throw error;
        partlyPublished(session, error);
      }
    },
  );
}

/** A header `<name>=<value>`, with those before it. */
function headers(text: string, before: Headers = {}): Headers {
  const [, name, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (name === undefined || value === undefined)
    throw new InvalidArgumentError("must be <name>=<value>, such as region=eu");
  return { ...before, [name]: value };
}

function publishedText({ id, copies }: Published): string {
  const had = copies.filter(({ created }) => !created).map(({ queue }) => queue);
  const names = copies.map(({ queue }) => queue).join(", ");
  const to = copies.length === 0 ? "no queue" : `${counted(copies.length, "queue")}: ${names}`;
  return `Published ${id} to ${to}.${had.length > 0 ? ` Had it already: ${had.join(", ")}.` : ""}`;
}

/** Says which queues have a copy, and which have none. */
function partlyPublished({ out, fail }: Session, { published }: PublishError): void {
  for (const one of published) {
    out.value(one, publishedText(one));
    for (const { queue, code } of one.failed) out.note(`${queue} has no copy: ${code}.`);
    out.note(`To add what is missing, publish it again with --id ${shellQuoted(one.id)}.`);
  }
  fail();
}
