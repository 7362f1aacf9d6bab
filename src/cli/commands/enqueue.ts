import { Command, Option } from "commander";
import type { KeyedEnqueued, KeyedEnqueueOptions } from "../../features/debounce/index.ts";
import { UsageError } from "../exit.ts";
import { openInput } from "../jsonl/lines.ts";
import { upload } from "../jsonl/upload.ts";
import { json } from "../options.ts";
import { noteNewQueue, unknownQueue } from "../unknown-queue.ts";
import { noteWake } from "../wake-note.ts";
import { type TaskOptions, withTaskOptions } from "../task-options.ts";
import { operation, type Running, type Session } from "../session.ts";

interface EnqueueOptions extends TaskOptions {
  readonly file?: string;
  readonly resume?: string;
  readonly debounce?: unknown;
  readonly throttle?: unknown;
  readonly singleton?: unknown;
  readonly replace?: true;
}

/** What is printed in front of the id of a task. */
const OUTCOMES = {
  created: "Enqueued",
  replaced: "Replaced the payload of",
  appended: "Appended the payload to",
  dropped: "Nothing was enqueued: there is a task",
} as const;

export function enqueueCommand(running: Running): Command {
  const command = new Command("enqueue")
    .summary("enqueue a payload, or one for each line of JSON from a pipe")
    .description(
      "Enqueues a task with the payload. Without a payload, it enqueues one task for each line of JSON (JSONL) of the standard input or of a file. The defaults of a declared queue apply only through the deployment that declares it (SLUICE_URL).",
    )
    .argument("<queue>")
    .argument("[payload]", 'JSON, such as \'{"to": "a@example.com"}\'', json)
    .option("--file <file>", "read JSON lines from this file")
    .option(
      "--resume <file>",
      "keep in this file how far the lines are enqueued; the next run continues there, within a day",
    );
  withTaskOptions(command)
    .addOption(
      new Option(
        "--debounce <json>",
        'join tasks of a key, such as \'{"key": "page-7", "wait": "5s"}\'',
      ).argParser(json),
    )
    .addOption(
      new Option(
        "--throttle <json>",
        'at most so many tasks of a key, such as \'{"key": "a", "most": 5, "per": "1m"}\'',
      ).argParser(json),
    )
    .addOption(
      new Option(
        "--singleton <json>",
        'one task of a key, such as \'{"key": "a", "while": "unfinished"}\'',
      ).argParser(json),
    )
    .option("--replace", "with --id: replace the payload of a task that has not begun");
  return operation(
    running,
    command,
    async (session: Session, options: EnqueueOptions, queue: string, payload?: unknown) => {
      const { file, resume, id, delay, at, group, priority, lease, maxAttempts, unique } = options;
      const { debounce, throttle, singleton, replace } = options;
      const rest = { delay, at, group, priority, lease, maxAttempts };
      if (payload !== undefined) {
        if (file !== undefined || resume !== undefined)
          throw new UsageError("--file and --resume are for JSON lines; leave out the payload");
        const { api, out } = session;
        const task = { ...rest, id, unique, debounce, throttle, singleton, replace } as KeyedEnqueueOptions;
        const unknown = await unknownQueue(session, queue);
        const enqueued = await api.run((request) =>
          api.queue(queue).enqueue(payload, { ...task, ...request }),
        );
        const { outcome = enqueued.created ? "created" : "dropped" }: Partial<KeyedEnqueued> = enqueued;
        out.value({ queue, ...enqueued }, `${OUTCOMES[outcome]} ${enqueued.id} in ${queue}.`);
        noteNewQueue(session, queue, unknown);
        return noteWake(session);
      }
      const single = Object.entries({ id, unique, debounce, throttle, singleton, replace });
      const given = single.find(([, value]) => value !== undefined);
      if (given) throw new UsageError(`--${given[0]} is for one payload; give it after the queue`);
      if (file === undefined && session.io.stdin.isTTY)
        throw new UsageError("give a payload, --file <file>, or JSON lines from a pipe");
      await upload(session, {
        queue,
        input: openInput(session.io, file),
        taskOf: ({ value }) => ({ payload: value, ...rest }),
        resume,
      });
    },
  );
}
