import { Command } from "commander";
import { RECORD_DEFAULTS } from "../../kernel/record/record.ts";
import { lostText, reasonTexts } from "../../kernel/errors/reason-text.ts";
import { requestedCancel } from "../../operate/requested-cancel.ts";
import { Refusal } from "../exit.ts";
import { flowOfTask } from "../../kernel/linked/flow-of-task.ts";
import { masked } from "../output/mask.ts";
import type { Output } from "../output/output.ts";
import { errorLine, printable, printableLines } from "../output/printable.ts";
import { localTime, relativeTime } from "../output/times.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf, type ShownTask, stateOf } from "../tasks.ts";

interface ShowOptions {
  /** False with `--no-payload`. */
  readonly payload: boolean;
  readonly mask?: boolean;
}

export function showCommand(running: Running): Command {
  const command = new Command("show")
    .summary("show a task: history, the error of each attempt, payload")
    .description(
      "Shows all that is known of a task. The payload needs a token with the scope view. Of --json, `lease` is the number of the latest lease; its length is `options.lease`, in ms, if the task fixed one.",
    )
    .argument("<queue>")
    .argument("<id>")
    .option("--no-payload", "without the payload; the scope enqueue is then enough")
    .option("--mask", "hide the values in payload, result and progress, and show their names");
  return operation(
    running,
    command,
    async (session: Session, options: ShowOptions, queue: string, id: string) => {
      const { api, out } = session;
      const path = pathOf(queue, "tasks", { name: id, of: "<id>" });
      const query = options.payload ? { payload: true } : {};
      const found = await api.find<ShownTask>(path, "state", query);
      if (!found) await refuseUnknownQueue(session, queue);
      if (!found) throw new Refusal(`${queue} has no task ${id}; its record may have expired`);
      const task = options.mask ? withoutValues(found) : found;
      if (out.json) out.line(task);
      else out.text(described(task, out));
    },
  );
}

function withoutValues(task: ShownTask): ShownTask {
  const { payload, result, progress } = task;
  return {
    ...task,
    ...(payload !== undefined && { payload: masked(payload) }),
    ...(result !== undefined && { result: masked(result) }),
    ...(progress !== undefined && { progress: masked(progress) }),
  } as ShownTask;
}

/** The most characters of a payload, result or error that a person reads. */
const MOST = 10_000;

/** The task as a person reads it. */
function described(task: ShownTask, { colors }: Output): string {
  const heading = (text: string) => `\n${colors.bold(text)}\n`;
  const pair = ([name, value]: readonly [string, string]) => `${colors.dim(name.padEnd(12))}${value}\n`;
  const lines = [
    `${colors.bold(task.id)} of ${task.queue}: ${stateWithReason(task)}\n`,
    ...factsOf(task).map(pair),
    heading("History"),
    ...task.transitions.map(({ to, at }) => `${localTime(at)}  ${transitionText(to, task)}\n`),
  ];
  if (task.errors.length > 0) {
    lines.push(heading("Errors of attempts"));
    for (const ended of task.errors) {
      const text = ended.error === null ? lostText(ended) : errorLine(ended.error);
      lines.push(`${localTime(ended.at)}  attempt ${ended.attempt}: ${text}\n`);
    }
  }
  if (task.payloadsHidden) lines.push("\nThe token hides payload, result, progress and headers.\n");
  for (const name of ["error", "result", "progress", "payload"] as const) {
    if (task[name] === undefined) continue;
    const bytes =
      name === "payload" ? task.payloadEncoding : name === "error" ? task.errorEncoding : task.encoding;
    const note = bytes && name !== "progress" ? " (bytes, in base64; perhaps encrypted)" : "";
    const json = JSON.stringify(task[name], null, 2);
    const more = json.length > MOST ? `\n… of ${json.length} characters in all; --json shows them` : "";
    const text = printableLines(json.slice(0, MOST)) + more;
    lines.push(heading(`${name[0]?.toUpperCase()}${name.slice(1)}${note}`), `${text}\n`);
  }
  return lines.join("");
}

/** What a transition is called; a task that is cancelled, or was asked to be, is so by the word of its state. */
function transitionText(to: ShownTask["transitions"][number]["to"], { state, reason }: ShownTask): string {
  if (to === "cancelRequested") return "cancel requested";
  return to === "rejected" && state === "rejected" && reason === "cancelled" ? "cancelled" : to;
}

function stateWithReason(task: ShownTask): string {
  const { reason } = task;
  return reason === undefined || reason === "cancelled"
    ? stateOf(task)
    : `${stateOf(task)}: ${reasonTexts[reason]}`;
}

function factsOf(task: ShownTask): (readonly [string, string])[] {
  const { id, attempt, charged, enqueuedAt, dueAt, deadlineAt, endedAt, group, priority, worker, headers } =
    task;
  const at = (time: number) => `${localTime(time)} (${relativeTime(time)})`;
  const facts: (readonly [string, string | undefined])[] = [
    ["flow", flowOfTask(id)],
    ["enqueued", at(enqueuedAt)],
    ["due", dueAt === undefined ? undefined : at(dueAt)],
    ["lease until", deadlineAt === undefined ? undefined : at(deadlineAt)],
    ["ended", endedAt === undefined ? undefined : at(endedAt)],
    ["deliveries", `${attempt}; charged attempts ${charged}${limitOf(task)}`],
    ["group", group],
    ["priority", priority === undefined ? undefined : String(priority)],
    ["worker", worker && [worker.name, worker.incarnation].filter(Boolean).join(" ")],
    ["headers", headers && printable(JSON.stringify(headers))],
    ["cancel", requestedCancel(task, Date.now())],
  ];
  return facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined);
}

/** The limit of charged attempts. A task that has ended without a payload no longer has its options. */
function limitOf({ state, reason, options }: ShownTask): string {
  if (state === "completed" || reason === "cancelled") return "";
  const { maxAttempts = RECORD_DEFAULTS.maxAttempts } = options ?? {};
  return maxAttempts === 0 ? ", without a limit" : ` of ${maxAttempts}`;
}
