import { type Command, Option } from "commander";
import { duration, futureInstant, whole } from "./options.ts";

/** The options of a new task that commands have in common. */
export interface TaskOptions {
  readonly id?: string;
  readonly delay?: number;
  readonly at?: number;
  readonly group?: string;
  readonly priority?: number;
  readonly lease?: number;
  readonly maxAttempts?: number;
  readonly unique?: number;
}

/** Adds the options of {@link TaskOptions}. */
export function withTaskOptions(command: Command): Command {
  return command
    .option("--id <id>", "the id of the task")
    .addOption(new Option("--delay <duration>", "wait before the task is pending").argParser(duration))
    .addOption(
      new Option("--at <time>", "when the task is pending: 09:00 (the next), or 2026-11-24T09:00").argParser(
        futureInstant,
      ),
    )
    .option("--group <group>", "the group, such as a tenant")
    .addOption(new Option("--priority <number>", "0 to 9, 9 first").argParser(whole(0, 9)))
    .addOption(new Option("--lease <duration>", "how long one attempt may take").argParser(duration))
    .addOption(
      new Option("--max-attempts <number>", "attempts until it is a dead letter; 0 for no limit").argParser(
        whole(0),
      ),
    )
    .addOption(
      new Option("--unique <duration>", "with --id: how long another enqueue of the id is refused").argParser(
        duration,
      ),
    );
}
