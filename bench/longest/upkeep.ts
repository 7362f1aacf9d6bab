// Sweeps, workers and schedules at their largest arguments.

import { Schedules } from "../../src/index.ts";
import { payload } from "../report.ts";
import { group, HEADERS, NAME, priority, type Case, worker, working } from "./bench.ts";

export const largestSweep: Record<string, Case> = {
  "sweep with limit 10,000: all of 10,000 leases expired": async (bench) => {
    await bench.fill(10_000);
    await bench.lease(10_000, { lease: 1_000 });
    bench.now += 10_000;
    return () => bench.sweep(10_000);
  },
};

export const upkeep: Record<string, Case> = {
  "sweep: 1,000 fall due, 1,000 leases expired, 1,000 records over": async (bench) => {
    await bench.fill(1_000);
    await bench.settle(await bench.lease(1_000), "complete");
    await bench.fill(1_000, () => ({ delay: 1_000 }), 1_000);
    await bench.fill(1_000, undefined, 2_000);
    await bench.lease(1_000, { lease: 1_000, worker: { ...worker, silentAfter: 86_400_000 } });
    bench.now += 7_200_000;
    return () => bench.sweep();
  },
  "sweep: the same of 20 groups, with events": async (bench) => {
    await bench.operator().configure({ events: true, statistics: true });
    await bench.fill(1_000, priority);
    await bench.settle(await bench.lease(1_000), "complete");
    await bench.fill(1_000, (i) => ({ ...priority(i), delay: 1_000 }), 1_000);
    await bench.fill(1_000, priority, 2_000);
    await bench.lease(1_000, { lease: 1_000, worker: { ...worker, silentAfter: 86_400_000 } });
    bench.now += 7_200_000;
    return () => bench.sweep();
  },
  "sweep: the same of 1,000 groups at their limits": async (bench) => {
    for (let i = 0; i < 1_000; i++) await bench.operator().configureGroup(`h${i}`, { maxWorking: 1 });
    await bench.fill(1_000, (i) => ({ group: `h${i % 1_000}`, delay: 1_000 }), 1_000);
    await bench.fill(1_000, (i) => ({ group: `h${i % 1_000}` }), 2_000);
    await bench.lease(1_000, { lease: 1_000 });
    bench.now += 7_200_000;
    return () => bench.sweep();
  },
  "sweep: a silent worker with 1,000 tasks": async (bench) => {
    await working(bench, priority);
    bench.now += 70_000;
    return () => bench.sweep();
  },
  "heartbeat of 1,000": async (bench) => {
    await working(bench);
    return () => bench.queue().heartbeat(worker);
  },
  "fail 1,000": async (bench) => {
    await working(bench);
    return () => bench.operator().failWorker("worker");
  },
  "fail 1,000 of 20 groups": async (bench) => {
    await working(bench, priority);
    return () => bench.operator().failWorker("worker");
  },
  "run 50 schedules, 200 occurrences each": async (bench) => {
    const schedules = new Schedules(NAME, { transport: bench.transport, ...bench.clock });
    for (let i = 0; i < 50; i++) {
      await schedules.put(`s${i}`, {
        every: "1s",
        missed: "all",
        payload: payload(i),
        headers: HEADERS,
        ...group(i),
      });
    }
    bench.now += 200_000;
    return () => bench.sweep();
  },
};
