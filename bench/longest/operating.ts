// Operators' calls on many tasks.

import { deadLetters, group, oneGroup, priority, type Case, worker, working } from "./bench.ts";

export const operating: Record<string, Case> = {
  "redrive 1,000": async (bench) => {
    await deadLetters(bench);
    return () => bench.operator().redrive({ limit: 1_000, reason: "rejected" });
  },
  "redrive 1,000 by id": async (bench) => {
    await deadLetters(bench);
    const ids = Array.from({ length: 1_000 }, (_, i) => `t${i}`);
    return () => bench.operator().redrive({ ids });
  },
  "redrive 1,000 of 20 groups, with events": async (bench) => {
    await bench.operator().configure({ events: true, statistics: true });
    await deadLetters(bench, priority);
    return () => bench.operator().redrive({ limit: 1_000, reason: "rejected" });
  },
  "redrive none of 4,000": async (bench) => {
    await bench.fill(4_000);
    await bench.settle(await bench.lease(4_000), "reject");
    return () => bench.operator().redrive({ text: "nowhere", reason: "rejected" });
  },
  "purge 1,000 pending": async (bench) => {
    await bench.fill(3_000);
    return () => bench.operator().purge({ state: "pending" });
  },
  "purge 1,000 pending with a history, with events": async (bench) => {
    await bench.operator().configure({ events: true, statistics: true });
    await bench.fill(2_000);
    await bench.age(2_000, 16);
    return () => bench.operator().purge({ state: "pending" });
  },
  "purge 1,000 pending of 20 groups": async (bench) => {
    await bench.fill(3_000, priority);
    return () => bench.operator().purge({ state: "pending" });
  },
  "purge 1,000 of one group": async (bench) => {
    await bench.fill(3_000, oneGroup);
    return () => bench.operator().purge({ state: "pending", group: "g" });
  },
  "purge 1,000 behind limits": async (bench) => {
    for (let i = 0; i < 20; i++) await bench.operator().configureGroup(`g${i}`, { maxWorking: 1 });
    await bench.fill(3_000, group);
    return () => bench.operator().purge({ state: "pending" });
  },
  "purge 1,000 delayed": async (bench) => {
    await bench.fill(3_000, () => ({ delay: "1h" }));
    return () => bench.operator().purge({ state: "delayed" });
  },
  "purge 1,000 ended": async (bench) => {
    await bench.fill(3_000);
    await bench.settle(await bench.lease(3_000), "complete");
    return () => bench.operator().purge({ state: "completed" });
  },
  "purge 1,000 dead letters": async (bench) => {
    await deadLetters(bench);
    bench.now += 600_000;
    return () => bench.operator().purge({ state: "rejected" });
  },
  "cancel one of a group with 20,000 behind it": async (bench) => {
    await bench.fill(bench.size, oneGroup);
    return async () => {
      for (let i = 0; i < 20; i++) await bench.queue().cancel(`t${i}`);
    };
  },
  "configure: a limit over a backlog, loosened": async (bench) => {
    await bench.operator().configureGroup("g", { maxWorking: 1 });
    await bench.fill(bench.size, oneGroup);
    return () => bench.operator().configureGroup("g", { maxWorking: 100_000 });
  },
  "deleteQueue with 20,000": async (bench) => {
    await bench.fill(bench.size);
    return () => bench.operator().deleteQueue({ force: true });
  },
};

/** Pages of the largest size that a caller may ask for. */
export const pages: Record<string, Case> = {
  "list 1,000 pending": async (bench) => {
    await bench.fill(3_000);
    return () => bench.operator().list({ state: "pending", size: 1_000 });
  },
  "list 1,000 pending of groups": async (bench) => {
    await bench.fill(3_000, priority);
    await bench.fill(1_000, undefined, 3_000);
    return () => bench.operator().list({ state: "pending", size: 1_000 });
  },
  "list 1,000 working": async (bench) => {
    await working(bench);
    return () => bench.operator().list({ state: "working", size: 1_000 });
  },
  "list 1,000 dead letters with payloads, by error": async (bench) => {
    await deadLetters(bench);
    return () => bench.operator().list({ state: "rejected", size: 1_000, payloads: true, text: "503" });
  },
  "workers: 1,000": async (bench) => {
    await bench.fill(1_000);
    for (let i = 0; i < 1_000; i++)
      await bench.queue().dequeue({ worker: { ...worker, incarnation: String(i) } });
    return () => bench.operator().workers({ size: 1_000 });
  },
};
