import { Command } from "commander";
import { pick } from "../../pick.ts";
import { fromPaddedBase64 } from "../../base64.ts";
import type { NewTask } from "../../kernel/options/types.ts";
import { TASK_OPTIONS } from "../../kernel/enqueue/task-options.ts";
import { Refusal, UsageError } from "../exit.ts";
import { type Line, openInput } from "../jsonl/lines.ts";
import { upload } from "../jsonl/upload.ts";
import { operation, type Running, type Session } from "../session.ts";

/** Fields of a line. `state` only says where the task was. */
const FIELDS = ["payload", "encoding", "state", ...TASK_OPTIONS];

export function importCommand(running: Running): Command {
  const command = new Command("import")
    .summary("enqueue tasks from JSON lines that export wrote")
    .description(
      "Enqueues a task for each line of JSON of the standard input or of a file, with its id and options. A task whose id is known in the queue is left as it is. Delayed tasks keep their time. All others become pending, also those that were working or dead letters.",
    )
    .argument("<queue>")
    .option("--file <file>", "read from this file")
    .option(
      "--resume <file>",
      "keep in this file how far the lines are enqueued; the next run continues there, within a day",
    );
  return operation(
    running,
    command,
    async (session: Session, { file, resume }: { file?: string; resume?: string }, queue: string) => {
      if (file === undefined && session.io.stdin.isTTY)
        throw new UsageError("give --file <file>, or JSON lines from a pipe");
      await upload(session, { queue, input: openInput(session.io, file), taskOf, resume });
    },
  );
}

function taskOf({ number, value }: Line): NewTask<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new Refusal(`line ${number} must be an object with a payload`);
  const fields = value as Record<string, unknown>;
  const unknown = Object.keys(fields).find((name) => !FIELDS.includes(name));
  if (unknown !== undefined)
    throw new Refusal(`line ${number} has the unknown field ${unknown}; expected ${FIELDS.join(", ")}`);
  if (!Object.hasOwn(fields, "payload")) throw new Refusal(`line ${number} has no payload`);
  return { ...pick(fields as never, TASK_OPTIONS), payload: payloadOf(fields, number) };
}

function payloadOf({ payload, encoding }: Record<string, unknown>, number: number): unknown {
  if (encoding === undefined) return payload;
  const bytes = encoding === "base64" && typeof payload === "string" ? fromPaddedBase64(payload) : undefined;
  if (!bytes) throw new Refusal(`line ${number} has an encoding; then its payload must be base64`);
  return bytes;
}
