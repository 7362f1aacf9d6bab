import { Command, Option } from "commander";
import { taskStates, type TaskState } from "../../kernel/options/types.ts";
import { type FilterOptions, filterOf, stateNamed, withFilter } from "../options.ts";
import { counted } from "../../counted.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf, type ShownTask, tasksOf } from "../tasks.ts";
import { Refusal, UsageError } from "../exit.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface ExportOptions extends FilterOptions {
  readonly state: readonly TaskState[];
}

export function exportCommand(running: Running): Command {
  const command = withFilter(
    new Command("export")
      .summary("write tasks as JSON lines, for import")
      .description(
        "Writes tasks with their payloads and options, a line of JSON each; `lease` and other durations are in ms. Pause the queue before: tasks that change their state meanwhile may be missed, or come twice. Encrypted payloads can be decrypted only in a queue of the same name, under the same id.",
      )
      .argument("<queue>")
      .addOption(
        new Option("--state <states>", "tasks in these states, separated by commas")
          .argParser(states)
          .default(["pending", "delayed"], "pending,delayed"),
      ),
    "tasks",
  );
  return operation(running, command, async (session: Session, options: ExportOptions, queue: string) => {
    const { out, io } = session;
    // On a terminal the lines themselves show it.
    const progress = (text: string) => io.stdout.isTTY || out.progress(text);
    let [written, without] = [0, 0];
    for (const state of options.state) {
      const query = { state, payloads: true, size: 500, ...filterOf(options) };
      for await (const listed of tasksOf(session, queue, query)) {
        const task = await withPayload(session, queue, listed);
        if (task.payloadsHidden) throw new Refusal(`the token hides the payloads of ${queue}`);
        if (task.payload === undefined) {
          without++;
          continue;
        }
        out.line(exported(task));
        if (++written % 100 === 0) progress(`${written} tasks`);
      }
    }
    progress("");
    if (written + without === 0) await refuseUnknownQueue(session, queue);
    const left = without === 0 ? "" : ` ${counted(without, "task")} left out: their payloads are not kept.`;
    out.note(`Exported ${counted(written, "task")} of ${queue}.${left}`);
  });
}

function states(text: string): readonly TaskState[] {
  return text.split(",").map((name) => {
    const state = stateNamed(name.trim());
    if (state === undefined)
      throw new UsageError(`--state must be one or more of ${taskStates.join(", ")}, dead`);
    return state;
  });
}

/** The task, alone if the list has left out its payload, which is in an object store. */
async function withPayload({ api }: Session, queue: string, task: ShownTask): Promise<ShownTask> {
  if (task.undecryptable === undefined) return task;
  const path = pathOf(queue, "tasks", { name: task.id, of: "the id" });
  return (await api.find<ShownTask>(path, "state", { payload: true })) ?? task;
}

/** A task as `import` reads it. Undefined fields are left out. */
function exported({
  id,
  payload,
  payloadEncoding,
  state,
  dueAt,
  group,
  priority,
  headers,
  options,
}: ShownTask) {
  return { id, state, payload, encoding: payloadEncoding, at: dueAt, group, priority, headers, ...options };
}
