import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  defineQueue,
  type Enqueued,
  type FoundTask,
  type QueueCounts,
  type TaskInfo,
} from "../../src/index.ts";
import { runHere } from "../cli/run-here.ts";
import { QUEUE } from "../support/rig.ts";
import {
  type AddedTask,
  type Found,
  handled,
  noBulk,
  type Pulled,
  type StartFront,
  eventsIn,
  storedIn,
} from "./front.ts";

/** Options of `sluice enqueue`. */
const options = ({ id, group, delay, debounce }: AddedTask) =>
  Object.entries({ id, group, delay, debounce: debounce && JSON.stringify(debounce) }).flatMap(
    ([name, value]) =>
      value === undefined ? [] : [`--${name}`, typeof value === "number" ? `${value}ms` : value],
  );

/** Commands of `sluice` with the database's address. They know only the name of the queue. */
export const commandLine: StartFront = async (rig, { declaration, handler, concurrency, prefix }) => {
  const env = { REDIS_URL: rig.redis.url, SLUICE_PREFIX: prefix };
  const sluice = async <Row>(args: readonly string[], stdin?: string): Promise<Row[]> => {
    const { code, err, rows } = await runHere(args, env, { ...(stdin !== undefined && { stdin }) });
    if (code !== 0) throw new Error(`sluice ${args.join(" ")}: ${code} ${err}`);
    return rows as Row[];
  };
  // `sluice deploy` reads what a module exports.
  const shared = globalThis as { composed?: object | undefined };
  shared.composed = defineQueue(QUEUE, declaration);
  const folder = await mkdtemp(join(tmpdir(), "sluice-compose-"));
  const module = join(folder, "queues.mjs");
  await writeFile(module, "export const queue = globalThis.composed;");
  await sluice(["deploy", module]);
  await rm(folder, { recursive: true });
  delete shared.composed;

  const handleNext = async (): Promise<boolean> => {
    const tasks = await sluice<Pulled>(["pull", QUEUE, "--max", String(concurrency)]);
    const settlements = await handled(tasks, handler);
    const lines = settlements.map((one) => JSON.stringify(one)).join("\n");
    if (tasks.length > 0) await sluice(["settle", QUEUE], lines);
    return tasks.length > 0;
  };
  return {
    async add(tasks) {
      const created: Enqueued[] = [];
      for (const task of tasks) {
        const args = ["enqueue", QUEUE, JSON.stringify(task.payload), ...options(task)];
        for (const { id, created: isNew } of await sluice<Enqueued>(args))
          created.push({ id, created: isNew });
      }
      return created;
    },
    async run() {
      await sluice(["sweep"]);
      while (await handleNext());
    },
    async get(id) {
      const [task] = await sluice<TaskInfo>(["show", QUEUE, id]);
      return task ?? null;
    },
    async counts() {
      const [queue] = await sluice<{ counts: QueueCounts }>(["queues", QUEUE]);
      if (!queue) throw new Error("sluice queues shows no queue");
      return queue.counts;
    },
    findings: () => sluice<Found>(["doctor"]),
    find: (text) => sluice<FoundTask>(["find", text]),
    bulk: noBulk,
    events: () => eventsIn(rig),
    stored: () => storedIn(rig),
    stop: async () => {},
  };
};
