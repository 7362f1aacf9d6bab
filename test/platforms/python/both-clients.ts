import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { Operator, Queue, type TaskInfo, type Transport } from "../../../src/index.ts";
import { type Gateway, startGateway } from "../../../src/local/index.ts";
import type { PartitionedQueue } from "../../../src/queue/partitions/partitioned-queue.ts";
import { upstash } from "../../../src/transport/upstash.ts";
import { partitionSpaces } from "../../support/partition-spaces.ts";
import { QUEUE, type Rig } from "../../support/rig.ts";

export const folder = fileURLToPath(new URL("../../../examples/python/", import.meta.url));

/** The Python client and the library, on one queue through one gateway. */
export interface BothClients {
  readonly gateway: Gateway;
  /** That of another function instance in each test, which knows no map of partitions yet. */
  readonly transport: Transport;
  readonly queue: Queue;
  /** Where the queue is, for calls on its map. */
  readonly place: PartitionedQueue;
  /** Runs code as session.py says. Returns what it reports. */
  // oxlint-disable-next-line typescript/no-explicit-any
  python(code: string): Promise<any>;
  /** What the library says of a task. Expects that Python says the same. */
  get(id: string): Promise<TaskInfo | null>;
  resize(count: number): Promise<number>;
  /** The queue of the library, which knows of partitions. */
  queueOf(partitions: number | "stored"): Queue;
  /** Each id with the partition that has it. No id may be in two of them. */
  partitionsOfIds(): Promise<Map<string, number>>;
}

/** What Python says of a task of which the library says this. */
function inPython({ queue: _, options: __, transitions, errors, worker, ...info }: TaskInfo): object {
  const snake = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  return {
    ...Object.fromEntries(Object.entries(info).map(([name, value]) => [snake(name), value])),
    ...(worker && { worker: `${worker.name} ${worker.incarnation ?? ""}` }),
    errors: errors.map(({ attempt, at, error }) => [attempt, at, error]),
    history: transitions.map(({ to, at }) => [to === "cancelRequested" ? "cancel requested" : to, at]),
  };
}

/** Registers the set-up with vitest: one process of Python, and one gateway, for all tests of a file. */
export function useBothClients(rig: Rig): BothClients {
  const both = {} as { -readonly [K in keyof BothClients]: BothClients[K] };
  let session: ChildProcessWithoutNullStreams;
  let answers: AsyncIterator<string>;
  beforeAll(async () => {
    both.gateway = await startGateway({ redisUrl: rig.redis.url });
    const env = {
      ...process.env,
      no_proxy: "127.0.0.1",
      PYTHONPATH: folder,
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONIOENCODING: "utf-8",
      UPSTASH_REDIS_REST_URL: both.gateway.url,
      UPSTASH_REDIS_REST_TOKEN: both.gateway.token,
    };
    const program = fileURLToPath(new URL("session.py", import.meta.url));
    session = spawn("python3", [program, QUEUE], { env });
    session.stderr.pipe(process.stderr);
    answers = createInterface(session.stdout)[Symbol.asyncIterator]();
  });
  beforeEach(() => {
    both.gateway.faults.clear();
    const own = upstash({ url: both.gateway.url, token: both.gateway.token });
    both.transport = { send: (commands, options) => own.send(commands, options) };
    both.queue = new Queue(QUEUE, { transport: both.transport });
    both.place = { name: QUEUE, prefix: undefined, transport: both.transport };
  });
  afterAll(async () => {
    session.kill();
    await both.gateway.close();
  });

  both.python = async (code) => {
    const indent = /^\n*( *)/.exec(code)?.[1] ?? "";
    session.stdin.write(`${JSON.stringify(code.trim().replaceAll(`\n${indent}`, "\n"))}\n`);
    const { value } = await answers.next();
    const answer = JSON.parse(String(value)) as { value?: unknown; failure?: string };
    if (answer.failure) throw new Error(answer.failure);
    return answer.value;
  };
  both.get = async (id) => {
    const info = await both.queue.get(id);
    expect(await both.python(`queue.get("${id}")`)).toEqual(info && inPython(info));
    return info;
  };
  both.resize = (count) => new Operator(QUEUE, { transport: both.transport }).resize(count);
  both.queueOf = (partitions) => new Queue(QUEUE, { transport: both.transport, partitions });
  both.partitionsOfIds = async () => {
    const places = [...partitionSpaces(await rig.keySpace(), QUEUE)].flatMap(([partition, { tasks }]) =>
      [...tasks.keys()].filter((field) => !/^[.~]/.test(field)).map((id) => [id, partition] as const),
    );
    expect(new Set(places.map(([id]) => id)).size).toBe(places.length);
    return new Map(places);
  };
  return both;
}
