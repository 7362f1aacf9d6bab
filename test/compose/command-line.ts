import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Enqueued, type FoundTask, type QueueCounts, type TaskInfo } from "../../src/index.ts";
import type { AddedFlow, FlowReport } from "../../src/features/flows/index.ts";
import type { Preview, Published } from "../../src/http/topics/index.ts";
import { runHere } from "../cli/run-here.ts";
import { QUEUE } from "../support/rig.ts";
import {
  type AddedTask,
  declaredOf,
  type Found,
  handled,
  noBulk,
  noEndpoints,
  type Pulled,
  type StartFront,
  subscribeDeclared,
  type TopicsFront,
  eventsIn,
  storedIn,
} from "./front.ts";

/** Options of `sluice enqueue`. */
const options = ({ id, group, delay, debounce, throttle, singleton, replace }: AddedTask) => {
  const [debounced, throttled, single] = [debounce, throttle, singleton].map(
    (by) => by && JSON.stringify(by),
  );
  const given = { id, group, delay, debounce: debounced, throttle: throttled, singleton: single };
  const texts = Object.entries(given).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, typeof value === "number" ? `${value}ms` : value],
  );
  return replace ? [...texts, "--replace"] : texts;
};

/** Commands of `sluice` with the database's address. They know only the name of the queue. */
export const commandLine: StartFront = async (rig, given) => {
  const { handler, concurrency, prefix } = given;
  const declared = declaredOf(given);
  const env = { REDIS_URL: rig.redis.url, SLUICE_PREFIX: prefix };
  const sluice = async <Row>(args: readonly string[], stdin?: string): Promise<Row[]> => {
    const { code, err, rows } = await runHere(args, env, { ...(stdin !== undefined && { stdin }) });
    if (code !== 0) throw new Error(`sluice ${args.join(" ")}: ${code} ${err}`);
    return rows as Row[];
  };
  // `sluice deploy` reads what a module exports.
  const shared = globalThis as { composed?: object | undefined };
  shared.composed = Object.fromEntries(declared);
  const folder = await mkdtemp(join(tmpdir(), "sluice-compose-"));
  const module = join(folder, "queues.mjs");
  await writeFile(module, "export const { emails, rows } = globalThis.composed;");
  await sluice(["deploy", module]);
  await rm(folder, { recursive: true });
  delete shared.composed;

  const handleNext = async (queue: string): Promise<boolean> => {
    const tasks = await sluice<Pulled>(["pull", queue, "--max", String(concurrency)]);
    const settlements = await handled(tasks, handler);
    const lines = settlements.map((one) => JSON.stringify(one)).join("\n");
    if (tasks.length > 0) await sluice(["settle", queue], lines);
    return tasks.length > 0;
  };
  const addFlow = async (flow: object) => {
    const [added] = await sluice<AddedFlow>(["flow", "--add", "-"], JSON.stringify(flow));
    return added as AddedFlow;
  };
  const topics: TopicsFront = {
    async publish(topic, payload, { id, headers }) {
      const named = Object.entries(headers ?? {}).flatMap(([name, value]) => [
        "--header",
        `${name}=${value}`,
      ]);
      const [published] = await sluice<Published>([
        "publish",
        topic,
        JSON.stringify(payload),
        "--id",
        String(id),
        ...named,
      ]);
      return published as Published;
    },
    async preview(topic, headers) {
      const named = Object.entries(headers).flatMap(([name, value]) => ["--header", `${name}=${value}`]);
      const [preview] = await sluice<Preview>(["publish", topic, "0", "--dry-run", ...named]);
      return preview as Preview;
    },
    subscribe: (queue, topic, own) =>
      sluice(["subscribe", queue, topic, "--new", ...(own ? ["--filter", JSON.stringify(own.filter)] : [])]),
  };
  await subscribeDeclared(given, topics);
  return {
    topics,
    endpoints: noEndpoints,
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
      for (const queue of declared.keys()) while (await handleNext(queue));
    },
    async get(id) {
      const [task] = await sluice<TaskInfo>(["show", QUEUE, id]);
      return task ?? null;
    },
    async blocked(queue) {
      return (await sluice<TaskInfo>(["ls", queue, "--state", "blocked"])).map(({ id }) => id);
    },
    pause: (time, group) =>
      sluice(
        group === undefined
          ? ["pause", QUEUE, "--new", "--for", String(time)]
          : ["settings", QUEUE, "--new", "--group", group, `paused=${time}`],
      ),
    flows: {
      add: (tasks, own) => addFlow({ ...own, tasks }),
      batch: (tasks, callbacks) => addFlow({ tasks, ...callbacks }),
      get: async (id) => (await sluice<FlowReport>(["flow", id]))[0] ?? null,
      cancel: (id) => sluice(["flow", id, "--cancel"]),
      redrive: (id) => sluice(["flow", id, "--redrive"]),
    },
    async counts(name = QUEUE) {
      const [queue] = await sluice<{ counts: QueueCounts }>(["queues", name]);
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
