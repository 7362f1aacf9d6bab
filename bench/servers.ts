// How well work spreads over three servers, each with five handlers: the time for 1,000 equal tasks that one server
// enqueues, against the ideal, in which all fifteen handlers are busy from the enqueue to the end.

import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout } from "node:timers/promises";
import { startRedis } from "../test/support/redis.ts";
import { printTable, quick } from "./report.ts";

const SERVERS = 3;
const HANDLERS = 5;
const tasks = quick ? 200 : 1_000;

const redis = await startRedis();
const program = new URL("servers/server.ts", import.meta.url);
const children = Array.from({ length: SERVERS }, () => {
  return fork(program, {
    env: { ...process.env, REDIS_URL: redis.url },
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
});
const urls = await Promise.all(children.map(async (child) => String((await once(child, "message"))[0])));

const ask = async (url: string, query = ""): Promise<number> => {
  const response = await fetch(`${url}/${query}`);
  return ((await response.json()) as { done: number }).done;
};
const done = () => Promise.all(urls.map((url) => ask(url)));
const sum = (counts: readonly number[]) => counts.reduce((total, count) => total + count, 0);

/** @param enqueue enqueues all tasks at one server */
async function spread(
  name: string,
  ms: number,
  enqueue: (url: string) => Promise<unknown>,
): Promise<string[]> {
  const before = await done();
  const begin = performance.now();
  await enqueue(urls[0] as string);
  let now: number[];
  while (sum((now = await done())) - sum(before) < tasks) await setTimeout(10);
  const took = performance.now() - begin;
  const ideal = Math.ceil(tasks / (SERVERS * HANDLERS)) * ms;
  const each = now.map((count, i) => count - (before[i] ?? 0));
  return [name, `${ms} ms`, each.join(" / "), took.toFixed(0), ideal.toFixed(0), (took / ideal).toFixed(2)];
}

// So that each server has loaded its code.
await spread("", 1, (url) => ask(url, `?tasks=${tasks}&ms=1`));
const rows = [
  await spread("one call", 50, (url) => ask(url, `?tasks=${tasks}&ms=50`)),
  await spread("one call", 200, (url) => ask(url, `?tasks=${tasks}&ms=200`)),
  await spread("one at a time", 50, async (url) => {
    for (let i = 0; i < tasks; i++) await ask(url, "?tasks=1&ms=50");
  }),
];
printTable(["enqueued by", "a task takes", "done by each server", "took, ms", "ideal, ms", "ratio"], rows);
for (const child of children) child.kill();
await redis.stop();
