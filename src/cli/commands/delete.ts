import { Command } from "commander";
import { counted } from "../../counted.ts";
import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import { Refusal } from "../exit.ts";
import { confirmed } from "../output/confirm.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface DeleteOptions {
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly yes?: boolean;
}

export function deleteCommand(running: Running): Command {
  const command = new Command("delete")
    .summary("delete a queue with all that it has")
    .description(
      "Deletes a queue: tasks in every state, results, settings, schedules, and its place in lists. While tasks are working, or flows that have not ended need it, it is refused. An enqueue creates the queue again, and so does a deployment that declares it.",
    )
    .argument("<queue>")
    .option("--dry-run", "show what would be deleted, and change nothing")
    .option(
      "--force",
      "even then: what consumers settle is refused, and what waits for its tasks of flows is rejected",
    )
    .option("--yes", "do not ask");
  return operation(running, command, async (session: Session, options: DeleteOptions, queue: string) => {
    const { api, out, io } = session;
    const { dryRun, force = false, yes } = options;
    const path = pathOf(queue);
    await refuseUnknownQueue(session, queue);
    const has = await contentsOf(session, queue);
    const { pending, delayed, blocked, working, rejected, schedules } = has;
    const ofFlows = blocked > 0 ? `${counted(blocked, "blocked task")} of flows, ` : "";
    const waiting = `${ofFlows}${pending} pending, ${delayed} delayed and ${working} working tasks`;
    const rest = `${counted(rejected, "dead letter")}, ${counted(schedules, "schedule")}`;
    const all = `${queue} with ${waiting}, ${rest}, its results and settings`;
    if (dryRun) return out.value({ queue, ...has }, `Would delete ${all}. Nothing was changed.`);
    if (working > 0 && !force)
      throw new Refusal(
        `${counted(working, "task")} of ${queue} ${working === 1 ? "is" : "are"} working: pause the queue and wait, or add --force`,
      );
    if (blocked > 0 && !force)
      throw new Refusal(
        `${counted(blocked, "task")} of ${queue} ${blocked === 1 ? "waits" : "wait"} for others of flows: cancel the flows, or add --force`,
      );
    if (!(await confirmed(io, `Delete ${all}?`, yes))) return out.note("Nothing was deleted.");
    await api.send("DELETE", force ? `${path}?force=true` : path, "deleted");
    out.value({ queue, deleted: true, ...has }, `Deleted ${all}.`);
  });
}

/** What the queue has, as far as it is counted. */
async function contentsOf({ api }: Session, queue: string) {
  const { pending, delayed, blocked, working, rejected }: QueueCounts = await api.get(
    pathOf(queue),
    "pending",
  );
  let schedules = 0;
  const pages = api.pages<{ readonly schedules: readonly unknown[] }>(
    pathOf(queue, "schedules"),
    "schedules",
  );
  for await (const page of pages) schedules += page.schedules.length;
  return { pending, delayed, blocked, working, rejected, schedules };
}
