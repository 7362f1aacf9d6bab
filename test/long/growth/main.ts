// npm run test:growth: a large queue on a cluster is filled and worked on, while it gets more and fewer partitions
// and a master is killed. Then each task must have ended once, by the consumers' own files. `--help` lists the
// options.

import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { createReadStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { Operator, Queue, sweep } from "../../../src/index.ts";
import { owning } from "../../../src/features/partitions/map.ts";
import { fetchMap } from "../../../src/features/partitions/map-calls.ts";
import { resp } from "../../../src/transports/resp.ts";
import { killMaster } from "../../support/cluster-changes.ts";
import { optional, readOptions, wholeNumber } from "../../support/options.ts";
import { startCluster } from "../../support/redis-cluster.ts";
import { consumerFile, QUEUE, taskOf } from "./work.ts";

const CONSUMERS = 20;
const PROCESSES = 4;
const PRODUCERS = 4;
const ENQUEUED = 1_000;

const program = {
  script: "test:growth",
  does: "Resizes a large queue on a cluster, and kills a master, while consumers work on it.",
};
const options = readOptions(program, {
  tasks: optional("N", "how many tasks (4,000,000)", (given) => wholeNumber(given, 10_000, 10_000_000)),
});
const total = options.tasks ?? 4_000_000;
const folder = mkdtempSync(join(tmpdir(), "sluice-growth-"));
const began = performance.now();
const say = (text: string) =>
  console.log(`${((performance.now() - began) / 1_000).toFixed(0).padStart(4)} s  ${text}`);

const cluster = await startCluster({
  args: ["--cluster-node-timeout", "5000", "--repl-backlog-size", "256mb"],
});
const transport = resp({ url: cluster.url, retry: { deadline: 60_000, tryTimeout: 10_000 } });
const operator = new Operator(QUEUE, { transport });
const observer = new Queue(QUEUE, { transport, partitions: 8 });
const progress = { enqueued: 0 };

/** Enqueues the tasks up to a number. */
async function fill(queue: Queue, until: number): Promise<void> {
  const produce = async () => {
    while (progress.enqueued < until) {
      const first = progress.enqueued;
      const next = Math.min(until, first + ENQUEUED);
      progress.enqueued = next;
      await queue.enqueueMany(Array.from({ length: next - first }, (_, i) => taskOf(first + i)));
    }
  };
  await Promise.all(Array.from({ length: PRODUCERS }, produce));
}

const sweeping = new AbortController();
async function sweepOn(): Promise<void> {
  while (!sweeping.signal.aborted) {
    const { failed } = await sweep(transport, { budget: "5s" });
    if (failed.length > 0) say(`a sweep failed: ${JSON.stringify(failed)}`);
    await sleep(1_000);
  }
}

/** Waits until the map of the partitions is as wanted. */
async function partitioned(count: number): Promise<void> {
  for (;;) {
    const map = await fetchMap({ name: QUEUE, prefix: undefined, transport });
    if (!map.next && owning(map).length === count) return;
    await sleep(500);
  }
}

async function left(): Promise<number> {
  const { pending, delayed, working } = await observer.counts();
  return pending + delayed + working;
}

const consumers: ChildProcess[] = [];
try {
  await fill(new Queue(QUEUE, { transport }), total / 2);
  say(`${total / 2} tasks are enqueued, in one partition`);
  const sweeps = sweepOn();
  for (let i = 0; i < PROCESSES; i++) {
    const share = CONSUMERS / PROCESSES;
    const args = [cluster.url, folder, String(i * share), String(share)];
    consumers.push(fork(new URL("consumer.ts", import.meta.url), args));
  }
  say(`${CONSUMERS} consumers have begun, which declare 8 partitions`);
  await partitioned(8);
  say(`8 partitions; ${await left()} tasks are left`);
  const filling = fill(new Queue(QUEUE, { transport, partitions: 8 }), total);
  while (progress.enqueued < (3 * total) / 4) await sleep(100);
  const master = (await cluster.masters())[1];
  if (!master) throw new Error("the cluster has no second master");
  const successor = await killMaster(cluster, master);
  say(
    `the master at port ${master.port} is killed, ${successor.port} has taken over; ${await left()} tasks are left`,
  );
  await operator.resize(3);
  await partitioned(3);
  say(`3 partitions; ${await left()} tasks are left`);
  await filling;
  say(`${total} tasks are enqueued; ${await left()} are left`);
  while ((await left()) > 0) await sleep(500);
  say("no task is left");
  const ended = consumers.map((consumer) => once(consumer, "exit"));
  for (const consumer of consumers) consumer.send("stop");
  await Promise.all(ended);
  sweeping.abort();
  await sweeps;
  const times = new Uint8Array(total);
  for (let number = 0; number < CONSUMERS; number++) {
    const lines = createInterface({ input: createReadStream(join(folder, consumerFile(number))) });
    for await (const line of lines) (times[Number(line)] as number)++;
  }
  const never = times.filter((count) => count === 0).length;
  const often = times.filter((count) => count > 1).length;
  const figures = `${total} tasks: ${never} never completed, ${often} completed more than once`;
  say(figures);
  process.exitCode = never + often === 0 ? 0 : 1;
} finally {
  for (const consumer of consumers) consumer.kill();
  await transport.close();
  await cluster.stop();
  rmSync(folder, { recursive: true });
}
process.exit();
