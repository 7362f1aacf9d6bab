import { Command } from "commander";
import { type ListedSchedule, occurrencesCounted } from "../../features/schedules/index.ts";
import { SluiceError } from "../../errors.ts";
import { shellQuoted } from "../../shell-quoted.ts";
import { Refusal, UsageError } from "../exit.ts";
import { nearestName } from "../../nearest-name.ts";
import { timeColumn } from "../output/times.ts";
import { span } from "../../kernel/options/span.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

interface SchedulesOptions {
  readonly pause?: string;
  readonly resume?: string;
  readonly remove?: string;
  readonly run?: string;
}

export function schedulesCommand(running: Running): Command {
  const command = new Command("schedules")
    .summary("list the schedules of a queue; run, pause, resume or remove one")
    .description(
      "Lists the schedules of a queue with their next times. Schedules are declared in code: see deploy.",
    )
    .argument("<queue>")
    .option("--run <name>", "enqueue a task of this schedule now")
    .option("--pause <name>", "enqueue no occurrence of this schedule")
    .option("--resume <name>", "enqueue its occurrences again")
    .option(
      "--remove <name>",
      "remove it; a deployment that declares it adds it again only when its declaration changes",
    );
  return operation(running, command, async (session: Session, options: SchedulesOptions, queue: string) => {
    const { api, out, where } = session;
    const changes = Object.entries({
      run: options.run,
      pause: options.pause,
      resume: options.resume,
      remove: options.remove,
    });
    const [change, ...others] = changes.filter(([, name]) => name !== undefined);
    if (others.length > 0) throw new UsageError("give one of --run, --pause, --resume and --remove");
    if (change) {
      const [verb, name = ""] = change;
      const at = pathOf(queue, "schedules", { name, of: `--${verb}` });
      await refuseUnknownQueue(session, queue);
      const send = <Reply extends object>(method: "POST" | "DELETE", to: string, field: string) =>
        api.send<Reply>(method, to, field).catch(async (error: unknown) => {
          if (error instanceof SluiceError && error.code === "unsupported")
            await refuseUnknownSchedule(session, queue, name);
          throw error;
        });
      if (verb === "remove") await send("DELETE", at, "removed");
      else if (verb === "run") {
        const { id } = await send<{ readonly id: string }>("POST", `${at}/run`, "id");
        out.note(`${name}: enqueued ${id}. To watch it: sluice show ${queue} ${shellQuoted(id)}${where}`);
      } else if (verb === "resume") {
        const { skipped = 0 } = await send<{ readonly skipped?: number }>("POST", `${at}/resume`, "paused");
        const missed = `${occurrencesCounted(skipped)} missed while paused, not made up`;
        const run = `--run ${shellQuoted(name)} enqueues one now`;
        out.note(`${name}: resumed.${skipped > 0 ? ` ${missed}: ${run}.` : ""}`);
      } else await send("POST", `${at}/pause`, "paused");
      if (verb === "remove" || verb === "pause") out.note(`${name}: ${verb}d.`);
    }
    const schedules = await schedulesOf(session, queue);
    if (schedules.length === 0) await refuseUnknownQueue(session, queue);
    out.rows(
      schedules.toSorted((one, other) => (one.name < other.name ? -1 : 1)),
      [
        { title: "NAME", copied: true, of: ({ name }) => name },
        { title: "WHEN", fills: true, of: rhythmOf },
        { title: "NEXT", ...timeColumn(({ nextAt, paused }) => (paused ? "paused" : (nextAt ?? "ended"))) },
        { title: "PAUSED", optional: true, ...timeColumn(({ pausedAt }) => pausedAt) },
        { title: "LAST", ...timeColumn(({ lastAt }) => lastAt) },
      ],
      `${queue} has no schedules.`,
    );
    const here = Intl.DateTimeFormat().resolvedOptions().timeZone;
    if (!out.json && schedules.some((schedule) => (zoneOf(schedule) ?? here) !== here))
      out.note(`NEXT and LAST are in the time zone of this machine, ${here}.`);
  });
}

async function schedulesOf({ api }: Session, queue: string): Promise<ListedSchedule[]> {
  const found: ListedSchedule[] = [];
  const path = pathOf(queue, "schedules");
  const pages = api.pages<{ readonly schedules: readonly ListedSchedule[] }>(path, "schedules");
  for await (const { schedules } of pages) found.push(...schedules);
  return found;
}

/** @throws {Refusal} with the most similar name, if the queue has no schedule of this name */
async function refuseUnknownSchedule(session: Session, queue: string, name: string): Promise<void> {
  const names = (await schedulesOf(session, queue)).map((schedule) => schedule.name);
  if (names.includes(name)) return;
  const nearest = nearestName(name, names);
  throw new Refusal(
    `${queue} has no schedule ${name}${nearest === undefined ? "" : `; did you mean ${nearest}?`}`,
  );
}

type Rhythm = { readonly cron?: string; readonly timeZone?: string; readonly every?: number };

/** The time zone of a cron expression. */
function zoneOf(schedule: ListedSchedule): string | undefined {
  const { timeZone = "UTC", every } = schedule as Rhythm;
  return every === undefined ? timeZone : undefined;
}

function rhythmOf(schedule: ListedSchedule): string {
  const { cron, every = 0 } = schedule as Rhythm;
  const zone = zoneOf(schedule);
  return zone === undefined ? `every ${span(every)}` : `${cron} ${zone}`;
}
