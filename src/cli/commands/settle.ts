import { Command, Option } from "commander";
import type { Settled, Settlement } from "../../queue/core/types.ts";
import { UsageError } from "../exit.ts";
import { jsonLines, openInput } from "../jsonl/lines.ts";
import { duration, json } from "../options.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";

interface SettleOptions {
  readonly complete?: boolean;
  readonly reject?: boolean;
  readonly requeue?: boolean;
  readonly extend?: boolean;
  readonly result?: unknown;
  readonly error?: string;
  readonly delay?: number;
  readonly lease?: number;
}

/** Most settlements of one request. */
const MOST = 500;

export function settleCommand(running: Running): Command {
  const command = new Command("settle")
    .summary("complete, reject, requeue or extend pulled tasks")
    .description(
      'Settles tasks by their receipts. Without receipts it reads settlements from the standard input, a line of JSON each: {"receipt": "…", "outcome": "complete"}.',
    )
    .argument("<queue>")
    .argument("[receipts...]")
    .optionsGroup("What to do, one of:")
    .option("--complete", "the task is done")
    .option("--reject", "the task is a dead letter")
    .option("--requeue", "the task is tried again")
    .option("--extend", "the lease lasts longer")
    .optionsGroup("With:")
    .addOption(new Option("--result <json>", "with --complete: the result").argParser(json))
    .option("--error <text>", "with --reject or --requeue: the error")
    .addOption(
      new Option("--delay <duration>", "with --requeue: wait before the next attempt").argParser(duration),
    )
    .addOption(new Option("--lease <duration>", "with --extend: from now on").argParser(duration));
  return operation(
    running,
    command,
    async (session: Session, options: SettleOptions, queue: string, receipts: readonly string[]) => {
      const { api, out, fail } = session;
      const settled: Settled[] = [];
      for await (const settlements of batches(session, options, receipts)) {
        const path = pathOf(queue, "tasks", "settle");
        const reply: { results: Settled[] } = await api.send("POST", path, "results", { settlements });
        settled.push(...reply.results);
      }
      if (settled.some(({ ok }) => !ok)) fail();
      out.rows(
        settled,
        [
          { title: "RECEIPT", of: ({ receipt }) => receipt },
          {
            title: "RESULT",
            of: (result) => (result.ok ? result.state : result.code),
            color: (cell, { ok }) => (ok ? cell : out.colors.red(cell)),
          },
        ],
        "There was nothing to settle.",
      );
    },
  );
}

async function* batches(
  { io }: Session,
  options: SettleOptions,
  receipts: readonly string[],
): AsyncGenerator<unknown[], void> {
  if (receipts.length > 0) {
    const settlement = settlementOf(options);
    yield receipts.map((receipt) => ({ receipt, ...settlement }));
    return;
  }
  if (io.stdin.isTTY) throw new UsageError("give receipts, or settlements as JSON lines from a pipe");
  let batch: unknown[] = [];
  for await (const { value } of jsonLines(openInput(io, undefined).stream)) {
    batch.push(value);
    if (batch.length < MOST) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  complete: ["result"],
  reject: ["error"],
  requeue: ["error", "delay"],
  extend: ["lease"],
};

function settlementOf(options: SettleOptions): Omit<Settlement, "receipt"> {
  const chosen = Object.keys(ALLOWED).filter((outcome) => options[outcome as keyof SettleOptions]);
  const [outcome = ""] = chosen;
  if (chosen.length !== 1) throw new UsageError("give one of --complete, --reject, --requeue or --extend");
  const { result, error, delay, lease } = options;
  const values = { result, error, delay, lease };
  const wrong = Object.entries(values).find(
    ([name, value]) => value !== undefined && !ALLOWED[outcome]?.includes(name),
  );
  if (wrong) throw new UsageError(`--${wrong[0]} must not be given with --${outcome}`);
  return { outcome, ...values } as unknown as Omit<Settlement, "receipt">;
}
