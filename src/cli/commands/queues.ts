import { Command } from "commander";
import { counted } from "../../counted.ts";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { ListedQueues } from "../../client/client.ts";
import { type Api } from "../connection/api.ts";
import { until } from "../output/times.ts";
import { span } from "../../kernel/options/span.ts";
import { operation, type Running, type Session } from "../session.ts";

export type ListedQueue = ListedQueues["queues"][number];

export function queuesCommand(running: Running): Command {
  const command = new Command("queues")
    .alias("status")
    .summary("list the queues, with counts")
    .description("Lists all queues with their counts: one request for each hundred.")
    .argument("[pattern]", "only queues whose name contains this text");
  return operation(running, command, async ({ api, out }: Session, _options: object, pattern?: string) => {
    const found = (await allQueues(api)).filter(({ name }) => name.includes(pattern ?? ""));
    const { colors } = out;
    const count = (of: (counts: Omit<QueueCounts, "queue">) => number | null) => (queue: ListedQueue) =>
      queue.counts ? of(queue.counts) : "?";
    out.rows(
      found,
      [
        { title: "QUEUE", copied: true, of: ({ name }) => name },
        { title: "PENDING", align: "right", of: count(({ pending }) => pending) },
        { title: "DELAYED", align: "right", of: count(({ delayed }) => delayed) },
        { title: "BLOCKED", optional: true, align: "right", of: count(({ blocked }) => blocked || null) },
        { title: "WORKING", align: "right", of: count(({ working }) => working) },
        {
          title: "DEAD",
          align: "right",
          of: count(({ rejected }) => rejected),
          color: (cell, { counts }) => (counts?.rejected ? colors.red(cell) : cell),
        },
        {
          title: "AGE OF NEXT",
          align: "right",
          of: ({ counts }) => (counts?.oldestAge == null ? "" : span(counts.oldestAge)),
        },
        { title: "STATE", optional: true, fills: true, of: stateOf, color: (cell) => colors.yellow(cell) },
      ],
      pattern === undefined
        ? "There is no queue. A queue is listed after its first enqueue."
        : `No queue has a name that contains "${pattern}".`,
    );
  });
}

function stateOf({ counts }: ListedQueue): string {
  if (!counts) return "counts unreadable";
  const { paused, pausedUntil, broken, stoppedGroups } = counts;
  const states = [
    paused && `paused${until(pausedUntil)}`,
    stoppedGroups > 0 && counted(stoppedGroups, "stopped group"),
    broken > 0 && `${broken} broken`,
  ];
  return states.filter(Boolean).join(", ");
}

/** All queues for which the caller has the scope `view`, by name. */
export async function allQueues(api: Api): Promise<ListedQueue[]> {
  const found = new Map<string, ListedQueue>();
  const pages = api.pages<{ readonly queues: readonly ListedQueue[] }>("/v1/queues", "queues", {
    counts: true,
    size: 100,
  });
  for await (const { queues } of pages) for (const queue of queues) found.set(queue.name, queue);
  return [...found.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}
