import { Command, Option } from "commander";
import type { TaskState } from "../../kernel/options/types.ts";
import type { FoundTask } from "../../operate/search-tasks.ts";
import { counted } from "../../counted.ts";
import { timeColumn } from "../output/times.ts";
import { stateOption, whole } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { changedAt, errorOf, type ShownTask, stateOf } from "../tasks.ts";

interface FindOptions {
  readonly queues?: string;
  readonly state?: TaskState;
  readonly limit: number;
}

type Found = ShownTask & Pick<FoundTask, "found">;

interface Page {
  readonly tasks: readonly Found[];
  readonly looked: { readonly tasks: number };
  readonly unsearched: number;
  readonly failed: readonly { readonly queue: string; readonly code: string }[];
}

export function findCommand(running: Running): Command {
  const command = new Command("find")
    .summary("find tasks of all queues by a text")
    .description(
      "Finds tasks that have a text in their id, payload, last error or result, in all queues: first dead letters, then those that wait or are worked on, then ended ones, the last ones first. What is encrypted or in an object store is not searched.",
    )
    .argument("<text>")
    .option("--queues <pattern>", "only in these queues, such as emails-*")
    .addOption(stateOption("only tasks in this state"))
    .addOption(new Option("--limit <number>", "at most this many").argParser(whole(1, 1_000)).default(20));
  return operation(running, command, async (session: Session, options: FindOptions, text: string) => {
    const { api, out, fail } = session;
    const { queues, state, limit } = options;
    const found: Found[] = [];
    const sums = { looked: 0, unsearched: 0 };
    let areMore = false;
    const pages = api.pages<Page>("/v1/search", "tasks", { text, queues, state, size: limit });
    for await (const { tasks, looked, unsearched, failed, cursor } of pages) {
      found.push(...tasks);
      sums.looked += looked.tasks;
      sums.unsearched += unsearched;
      for (const { queue, code } of failed) {
        out.note(`${queue} cannot be searched: ${code}.`);
        fail();
      }
      areMore = cursor !== null;
      if (found.length >= limit) break;
    }
    out.rows(
      found.slice(0, limit),
      [
        { title: "QUEUE", copied: true, of: ({ queue }) => queue },
        { title: "ID", copied: true, of: ({ id }) => id },
        { title: "STATE", of: stateOf },
        { title: "SINCE", ...timeColumn(changedAt) },
        { title: "IN", of: ({ found: place }) => place },
        { title: "TEXT", fills: true, of: textOf },
      ],
      `No task was found among ${counted(sums.looked, "task")}.`,
    );
    if (areMore) out.note(`There may be more: --limit <number> finds more.`);
    if (sums.unsearched > 0)
      out.note(
        `${counted(sums.unsearched, "task")} with encrypted or offloaded values could not be searched.`,
      );
  });
}

/** What a person sees of a task: where the text is, if that is short. */
function textOf(task: Found): string {
  if (task.found === "payload") return task.preview ?? "";
  return task.found === "result" ? JSON.stringify(task.result) : errorOf(task) || (task.preview ?? "");
}
