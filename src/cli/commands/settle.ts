import { Command, Option } from "commander";
import type { Settled, Settlement } from "../../kernel/options/types.ts";
import { UsageError } from "../exit.ts";
import { withLine } from "../jsonl/line-error.ts";
import { jsonLines, type Line, openInput } from "../jsonl/lines.ts";
import { duration, json } from "../options.ts";
import type { Output } from "../output/output.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

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
      'Settles tasks by their receipts. Without receipts it reads lines of JSON from the standard input. With an option such as --complete, these are the lines that pull wrote. Without one, they are settlements, such as {"receipt": "…", "outcome": "complete"}.',
    )
    .argument("<queue>")
    .argument("[receipts...]")
    .optionsGroup("What to do, one of:")
    .option("--complete", "the task is done")
    .option("--reject", "the task becomes a dead letter")
    .option("--requeue", "the task is tried again")
    .option("--extend", "the lease lasts longer")
    .optionsGroup("With:")
    .addOption(new Option("--result <json>", "with --complete: the result").argParser(json))
    .option("--error <text>", "with --reject or --requeue: the error")
    .addOption(
      new Option("--delay <duration>", "with --requeue: wait before the next attempt").argParser(duration),
    )
    .addOption(
      new Option("--lease <duration>", "with --extend: the new lease, from now on").argParser(duration),
    );
  return operation(
    running,
    command,
    async (session: Session, options: SettleOptions, queue: string, receipts: readonly string[]) => {
      const { out, io, fail } = session;
      const settlement = settlementOf(options);
      const settled: Settled[] = [];
      const settleSome = async (settlements: readonly unknown[]) => {
        const results = await settle(session, queue, settlements);
        if (settled.length === 0 && results.every(({ ok }) => !ok)) await refuseUnknownQueue(session, queue);
        settled.push(...results);
      };
      try {
        if (receipts.length > 0) {
          if (!settlement) throw new UsageError(`give one of ${OUTCOMES}`);
          const all = receipts.map((receipt) => ({ receipt, ...settlement }));
          for (let at = 0; at < all.length; at += MOST) await settleSome(all.slice(at, at + MOST));
        } else {
          if (io.stdin.isTTY) throw new UsageError("give receipts, or lines of JSON from a pipe");
          for await (const lines of batchesOf(jsonLines(openInput(io, undefined).stream))) {
            const all = lines.map(({ value }) =>
              settlement ? { receipt: receiptOf(value), ...settlement } : value,
            );
            await settleSome(all).catch((error: unknown) => {
              throw withLine(error, lines);
            });
          }
        }
      } finally {
        print(out, settled);
      }
      if (settled.length === 0) {
        await refuseUnknownQueue(session, queue);
        out.note("There was nothing to settle.");
      }
      if (settled.some(({ ok }) => !ok)) fail();
    },
  );
}

async function settle({ api }: Session, queue: string, settlements: readonly unknown[]): Promise<Settled[]> {
  const path = pathOf(queue, "tasks", "settle");
  const reply: { results: Settled[] } = await api.send("POST", path, "results", { settlements });
  return reply.results;
}

function print(out: Output, settled: readonly Settled[]): void {
  if (settled.length === 0) return;
  out.rows(
    settled,
    [
      { title: "RECEIPT", copied: true, of: ({ receipt }) => receipt },
      {
        title: "RESULT",
        of: (result) => (result.ok ? result.state : result.code),
        color: (cell, { ok }) => (ok ? cell : out.colors.red(cell)),
      },
    ],
    "",
  );
}

async function* batchesOf(lines: AsyncIterable<Line>): AsyncGenerator<Line[], void> {
  let batch: Line[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < MOST) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** The receipt of a line that pull wrote. */
function receiptOf(value: unknown): unknown {
  return (value as { readonly receipt?: unknown } | null)?.receipt;
}

const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  complete: ["result"],
  reject: ["error"],
  requeue: ["error", "delay"],
  extend: ["lease"],
};

const OUTCOMES = "--complete, --reject, --requeue or --extend";

/** The settlement that the options say; undefined if they say none. */
function settlementOf(options: SettleOptions): Omit<Settlement, "receipt"> | undefined {
  const { result, error, delay, lease } = options;
  const values = { result, error, delay, lease };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  const [outcome, ...others] = Object.keys(ALLOWED).filter((name) => options[name as keyof SettleOptions]);
  if (others.length > 0 || (outcome === undefined && given.length > 0))
    throw new UsageError(`give one of ${OUTCOMES}`);
  if (outcome === undefined) return undefined;
  const wrong = given.find(([name]) => !ALLOWED[outcome]?.includes(name));
  if (wrong) throw new UsageError(`--${wrong[0]} must not be given with --${outcome}`);
  return { outcome, ...values } as unknown as Omit<Settlement, "receipt">;
}
