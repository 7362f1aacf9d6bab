import { readFileSync } from "node:fs";
import { text } from "node:stream/consumers";
import { Command } from "commander";
import { counted } from "../../counted.ts";
import { messageOf } from "../../errors.ts";
import { drawFlow, reportGraph } from "../../features/flows/graph/index.ts";
import type { AddedFlow, FlowNodeReport, FlowReport } from "../../features/flows/index.ts";
import { reasonTexts } from "../../kernel/errors/reason-text.ts";
import { flowOfTask } from "../../kernel/linked/flow-of-task.ts";
import { queueName } from "../../kernel/options/validation.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { Refusal, UsageError } from "../exit.ts";
import type { Io } from "../io.ts";
import type { Output } from "../output/output.ts";
import { localTime, relativeTime } from "../output/times.ts";
import { operation, type Running, type Session } from "../session.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";
import { noteWake } from "../wake-note.ts";

interface FlowCommandOptions {
  readonly add?: string;
  readonly cancel?: boolean;
  readonly redrive?: boolean;
  readonly ascii?: boolean;
}

export function flowCommand(running: Running): Command {
  const command = new Command("flow")
    .summary("draw a flow; cancel it, redrive what failed in it, or add one")
    .description(
      "Draws a flow: its tasks, what they wait for, and their states. Tasks that are alike share a line. sluice show has the flow of a task.",
    )
    .argument("[id]", "of the flow, such as night@imports, or of one of its tasks")
    .option("--cancel", "cancel what has not ended; working tasks are asked to stop")
    .option("--redrive", "make the tasks that failed pending again, and block again what fell with them")
    .option("--add <file>", "add the flow of this file: JSON as POST /v1/flows takes it; - is a pipe")
    .option("--ascii", "draw lines with - and |");
  return operation(
    running,
    command,
    async (session: Session, options: FlowCommandOptions, id: string | undefined) => {
      const { add, cancel, redrive, ascii = false } = options;
      if ([add, cancel, redrive].filter(Boolean).length > 1)
        throw new UsageError("give one of --add, --cancel and --redrive");
      if ((id === undefined) === (add === undefined))
        throw new UsageError("give the id of a flow, or --add <file>");
      if (id === undefined) return addFlow(session, add as string);
      const flow = checkedId(id);
      if (cancel) return cancelFlow(session, flow);
      if (redrive) return redriveFlow(session, flow);
      const report = await session.api.find<FlowReport>(pathOfFlow(flow), "nodes");
      if (!report) return refuseUnknownFlow(session, flow);
      const { out } = session;
      if (out.json) out.line(report);
      else out.text(described(report, out, ascii));
    },
  );
}

const pathOfFlow = (id: string) => `/v1/flows/${encodeURIComponent(id)}`;

/** The id of a flow, also if that of one of its tasks is given. */
function checkedId(given: string): string {
  const id = flowOfTask(given) ?? given;
  const at = id.lastIndexOf("@");
  if (at < 1)
    throw new UsageError(`<id> must be that of a flow, such as night@imports, or of one of its tasks`);
  queueName(id.slice(at + 1), "the queue in <id>");
  return id;
}

/** @throws {Refusal} */
async function refuseUnknownFlow(session: Session, id: string): Promise<never> {
  await refuseUnknownQueue(session, id.slice(id.lastIndexOf("@") + 1));
  throw new Refusal(`there is no flow ${id}; its record may have expired`);
}

async function addFlow(session: Session, file: string): Promise<void> {
  const { api, out, io, where } = session;
  const given = await jsonOf(io, file);
  const body = Array.isArray(given) ? { tasks: given } : given;
  const added: AddedFlow = await api.send("POST", "/v1/flows", "created", body);
  const { id, created, tasks } = added;
  const count = counted(Object.keys(tasks).length, "task");
  out.value(added, created ? `Added the flow ${id} of ${count}.` : `The flow ${id} exists already.`);
  out.note(`To see it: sluice flow ${shellQuoted(id)}${where}`);
  if (created) noteWake(session);
}

/** @throws {UsageError} if the file cannot be read, or has no object or list in JSON */
async function jsonOf({ stdin }: Io, file: string): Promise<object> {
  let value: unknown;
  try {
    value = JSON.parse(file === "-" ? await text(stdin) : readFileSync(file, "utf8"));
  } catch (error) {
    const isJson = !(error instanceof SyntaxError);
    throw new UsageError(`--add ${file} ${isJson ? `cannot be read: ${messageOf(error)}` : "is not JSON"}`);
  }
  if (typeof value === "object" && value !== null) return value;
  throw new UsageError(`--add ${file} must have an object, or a list of tasks`);
}

async function cancelFlow(session: Session, id: string): Promise<void> {
  const { api, out } = session;
  const reply = await api.sendOrRefused<Cancelled, "not_found">(`${pathOfFlow(id)}/cancel`, "cancelled", [
    "not_found",
  ]);
  if (reply === "not_found") return refuseUnknownFlow(session, id);
  const { cancelled, flagged } = reply;
  const asked = flagged > 0 ? ` ${counted(flagged, "working task")} asked to stop.` : "";
  out.value({ id, cancelled, flagged }, `Cancelled ${counted(cancelled, "task")} of ${id}.${asked}`);
}

interface Cancelled {
  readonly cancelled: number;
  readonly flagged: number;
}

async function redriveFlow(session: Session, id: string): Promise<void> {
  const { api, out } = session;
  const path = `${pathOfFlow(id)}/redrive`;
  const reply = await api.sendOrRefused<{ readonly redriven: number }, "not_found">(path, "redriven", [
    "not_found",
  ]);
  if (reply === "not_found") return refuseUnknownFlow(session, id);
  const { redriven } = reply;
  out.value({ id, redriven }, `Redrove ${counted(redriven, "task")} of ${id}.`);
  if (redriven > 0) noteWake(session);
}

/** The flow as a person sees it. */
function described(
  { id, state, isCancelled, createdAt, endedAt, ...report }: FlowReport,
  out: Output,
  ascii: boolean,
): string {
  const { colors, width } = out;
  const { nodes, edges } = reportGraph(report.nodes);
  const at = (time: number) => `${localTime(time)} (${relativeTime(time)})`;
  const times = [`added ${at(createdAt)}`, ...(endedAt === undefined ? [] : [`ended ${at(endedAt)}`])];
  const color = (part: string, of: string) =>
    of === "completed" ? colors.green(part) : of === "rejected" ? colors.red(part) : part;
  const drawn = nodes.map((node) =>
    node
      ? {
          kind: node.kind === "flow" ? ("join" as const) : ("task" as const),
          ref: node.ref,
          queue: node.queue,
          state: node.state ?? "unknown",
          note: noteOf(node),
        }
      : { kind: "gate" as const, ref: "", state: "" },
  );
  const lines = [
    `${colors.bold(id)}: ${state}${isCancelled ? ", cancelled" : ""}; ${countsText(report.counts)}`,
    colors.dim(times.join(", ")),
    "",
  ];
  return `${lines.join("\n")}\n${drawFlow({ nodes: drawn, edges }, { width, ascii, color })}`;
}

/** Why a task was rejected. */
function noteOf({ reason, because }: FlowNodeReport): string | undefined {
  if (because !== undefined) return `${because} failed`;
  return reason && (reasonTexts as Readonly<Record<string, string>>)[reason];
}

const ORDER = ["working", "pending", "delayed", "blocked", "completed", "rejected"] as const;

function countsText(counts: FlowReport["counts"]): string {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const some = ORDER.filter((state) => counts[state] > 0);
  const texts = some.map((state) => `${counts[state]} ${state === "rejected" ? "dead" : state}`);
  return [counted(all, "task"), ...texts].join(", ");
}
