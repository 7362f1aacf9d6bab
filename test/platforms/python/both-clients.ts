import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { Operator, Queue, type TaskInfo, type Transport } from "../../../src/index.ts";
import { type Gateway, startGateway } from "../../../src/local/index.ts";
import type { PartitionedQueue } from "../../../src/features/partitions/partitioned-queue.ts";
import { upstash } from "../../../src/transports/upstash.ts";
import { partitionSpaces } from "../../support/partition-spaces.ts";
import { QUEUE, type Rig } from "../../support/rig.ts";
import { PythonProcess } from "./python-process.ts";

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
export function inPython({ queue: _, options: __, transitions, errors, worker, ...info }: TaskInfo): object {
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
  let session: PythonProcess;
  beforeAll(async () => {
    both.gateway = await startGateway({ redisUrl: rig.redis.url });
    session = new PythonProcess("session.py", both.gateway, QUEUE);
  });
  beforeEach(() => {
    both.gateway.faults.clear();
    const own = upstash({ url: both.gateway.url, token: both.gateway.token });
    both.transport = { send: (commands, options) => own.send(commands, options) };
    both.queue = new Queue(QUEUE, { transport: both.transport });
    both.place = { name: QUEUE, prefix: undefined, transport: both.transport };
  });
  afterAll(async () => {
    session.stop();
    await both.gateway.close();
  });

  both.python = (code) => {
    const indent = /^\n*( *)/.exec(code)?.[1] ?? "";
    return session.ask(code.trim().replaceAll(`\n${indent}`, "\n"));
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
