import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Command } from "commander";
import { withFields } from "../../client/fields.ts";
import { valueFields } from "../../client/values.ts";
import { type DeclaredQueue, isDeclared } from "../../deploy/declared/define-queue.ts";
import { messageOf, SluiceError } from "../../errors.ts";
import { pick } from "../../pick.ts";
import { instantMs, LAST_INSTANT } from "../../kernel/options/instants.ts";
import type { NewSchedule } from "../../features/schedules/index.ts";
import { encodeChecked } from "../../kernel/enqueue/schema.ts";
import { DEFAULT_OPTIONS } from "../../kernel/options/default-options.ts";
import { sleep } from "../../sleep.ts";
import type { Api } from "../connection/api.ts";
import { Refusal, UsageError } from "../exit.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";

export function deployCommand(running: Running): Command {
  const command = new Command("deploy")
    .summary("apply the settings, partitions and schedules of declared queues")
    .description(
      "Applies the settings, partitions and schedules of the queues that a module exports (defineQueue). A deployment that has the queues does so at its next cron. Use deploy to do so now, or if no deployment has them, as with sluice serve.",
    )
    .argument("<module>", "a file, such as queues.ts; TypeScript needs Node 22.18 or later")
    .option("--dry-run", "show what is declared, and change nothing");
  return operation(
    running,
    command,
    async ({ api, out, fail, where }: Session, { dryRun }: { dryRun?: boolean }, file: string) => {
      // All are made before any is applied.
      const declarations: { readonly queue: DeclaredQueue; readonly body: object }[] = [];
      for (const queue of await declaredIn(file))
        declarations.push({ queue, body: await named(queue, () => declarationOf(queue)) });
      const results: { readonly queue: string; readonly status: string; readonly declares: string }[] = [];
      try {
        for (const { queue, body } of declarations) {
          const apply = () => applied(api, queue.name, body);
          const { status } = dryRun ? { status: "not applied" } : await named(queue, apply);
          const partitions = queue.partitions === undefined ? [] : ["partitions"];
          const declared = [Object.keys(queue.settings), partitions, Object.keys(queue.schedules)];
          const declares = declared.flat().join(" ");
          results.push({ queue: queue.name, status, declares });
          if (status === "deferred") fail();
        }
      } finally {
        out.rows(
          results,
          [
            { title: "QUEUE", copied: true, of: ({ queue }) => queue },
            { title: "STATUS", of: ({ status }) => status },
            { title: "DECLARES", fills: true, of: ({ declares }) => declares },
          ],
          "Nothing was applied.",
        );
      }
      const subscribing = declarations.filter(({ queue }) => queue.subscribes !== undefined);
      if (subscribing.length > 0) {
        const names = subscribing.map(({ queue }) => queue.name).join(", ");
        out.note(
          `Subscriptions to topics were left out: a deployment that has ${names} applies them. Without one: sluice subscribe${where}`,
        );
      }
    },
  );
}

/** How often to ask again while another caller applies a declaration of the same queue. */
const TRIES = 5;

/** Applies a declaration. It may have to write a hundred schedules, so the request is given a minute. */
async function applied(api: Api, queue: string, body: object): Promise<{ readonly status: string }> {
  for (let tries = 1; ; tries++) {
    const path = pathOf(queue, "declaration");
    const reply = await api.send<{ readonly status: string }>("PUT", path, "status", body, 60_000);
    if (reply.status !== "deferred" || tries === TRIES) return reply;
    await sleep(500, undefined);
  }
}

/** The result of a call for a queue. Its error for an invalid declaration names the queue. */
async function named<T>({ name, schedules }: DeclaredQueue, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof SluiceError) || error.code !== "invalid_argument") throw error;
    const scheduleAt = (_: string, at: string) => `schedules.${Object.keys(schedules)[Number(at)]}`;
    throw new Refusal(`${name}: ${error.message.replace(/^schedules\[(\d+)\]/, scheduleAt)}`);
  }
}

/** The declared queues among the exports of a module, by name; also those in exported lists. */
async function declaredIn(file: string): Promise<DeclaredQueue[]> {
  if (!existsSync(file)) throw new UsageError(`${file} does not exist`);
  let exported: Record<string, unknown>;
  try {
    exported = (await import(pathToFileURL(resolve(file)).href)) as Record<string, unknown>;
  } catch (error) {
    const { code } = Object(error) as NodeJS.ErrnoException;
    if (code === "ERR_UNKNOWN_FILE_EXTENSION")
      throw new UsageError(
        `${file}: this Node cannot load TypeScript; use Node 22.18 or later, or compile it`,
      );
    throw new Refusal(`${file} cannot be loaded: ${messageOf(error)}. To see where: node ${file}`);
  }
  const queues = new Map<string, DeclaredQueue>();
  for (const value of Object.values(exported).flat()) {
    if (!isDeclared(value)) continue;
    const { name } = value;
    if ((queues.get(name) ?? value) !== value) throw new Refusal(`${file} declares the queue ${name} twice`);
    queues.set(name, value);
  }
  if (queues.size === 0) throw new Refusal(`${file} exports no queue that defineQueue made`);
  return [...queues.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
}

async function declarationOf({
  name,
  settings,
  partitions,
  schedules,
  options,
}: DeclaredQueue): Promise<object> {
  const timetable = Object.entries(schedules);
  if (timetable.length > 0 && options.encryption)
    throw new Refusal(
      `${name}: the payloads of its schedules are encrypted, and only your code has the keys. A deployment with the queue applies them at its next cron`,
    );
  const written = timetable.map(async ([schedule, task]) => {
    const encoded = await encodeChecked(options.schema, task.payload, `schedules.${schedule}.payload`);
    const fields = { name: schedule, ...withoutPayload(task) };
    return JSON.parse(withFields(valueFields("payload", encoded), JSON.stringify(fields))) as object;
  });
  const defaults = pick(options, DEFAULT_OPTIONS);
  return { settings, partitions, schedules: await Promise.all(written), defaults };
}

/** A schedule with instants as numbers. */
function withoutPayload({ payload: _, ...schedule }: NewSchedule<unknown>): object {
  const { from, until } = schedule as { from?: Date | number; until?: Date | number };
  return {
    ...schedule,
    ...(from !== undefined && { from: instantMs(from, "from", LAST_INSTANT) }),
    ...(until !== undefined && { until: instantMs(until, "until", LAST_INSTANT) }),
  };
}
