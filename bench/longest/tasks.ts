// Producers and consumers at their largest arguments.

import { priority, group, oneGroup, type Case, worker, working } from "./bench.ts";

/** What the goals are multiples of. */
export const plainEnqueue: Case = async (bench) => () => bench.fill(1_000);

export const tasks: Record<string, Case> = {
  "enqueue 1,000": plainEnqueue,
  "enqueue 1,000 of 20 groups with priorities": async (bench) => () => bench.fill(1_000, priority),
  "enqueue 1,000 of 1,000 groups, each with a limit": async (bench) => {
    for (let i = 0; i < 1_000; i++) await bench.operator().configureGroup(`h${i}`, { maxWorking: 1 });
    await bench.fill(1_000, (i) => ({ group: `h${i}` }), 5_000);
    return () => bench.fill(1_000, (i) => ({ group: `h${i % 1_000}` }));
  },
  "enqueue 1,000 with dedup keys, delayed, with events": async (bench) => {
    await bench.operator().configure({ events: true, statistics: true });
    return () => bench.fill(1_000, (i) => ({ delay: 1_000, dedup: { key: `k${i}`, window: "1h" } }));
  },
  "enqueue 1,000 that are known": async (bench) => {
    await bench.fill(1_000);
    return () => bench.fill(1_000);
  },
  "dequeue 1,000": async (bench) => {
    await bench.fill(1_000);
    return () => bench.lease(1_000, { worker });
  },
  "dequeue 1,000 with a history, with events": async (bench) => {
    await bench.operator().configure({ events: true, statistics: true });
    await bench.fill(1_000);
    await bench.age(1_000, 16);
    return () => bench.lease(1_000, { worker });
  },
  "dequeue 1,000 of 20 groups": async (bench) => {
    await bench.fill(1_000, priority);
    return () => bench.lease(1_000, { worker });
  },
  "dequeue 1,000 of 1,000 groups, each with a limit": async (bench) => {
    for (let i = 0; i < 1_000; i++) await bench.operator().configureGroup(`h${i}`, { maxWorking: 1 });
    await bench.fill(1_000, (i) => ({ group: `h${i}` }));
    await bench.fill(1_000, (i) => ({ group: `h${i % 1_000}` }), 1_000);
    return () => bench.lease(1_000, { worker });
  },
  "dequeue 1,000 that fall due": async (bench) => {
    await bench.fill(1_000, () => ({ delay: 1_000 }));
    bench.now += 10_000;
    return () => bench.lease(1_000);
  },
  "dequeue 1,000 whose leases expired": async (bench) => {
    await working(bench);
    bench.now += 40_000;
    return () => bench.lease(1_000);
  },
  "dequeue 1,000 behind 2,000 cancelled tasks": async (bench) => {
    await bench.fill(22_000);
    for (let i = 0; i < 2_000; i++) await bench.queue().cancel(`t${i}`);
    return () => bench.queue().dequeue({ max: 1_000 });
  },
  "dequeue 10 behind 2,000 cancelled tasks": async (bench) => {
    await bench.fill(3_000);
    for (let i = 0; i < 2_000; i++) await bench.queue().cancel(`t${i}`);
    return () => bench.queue().dequeue({ max: 10 });
  },
  "dequeue 100 over a backlog of groups that just got a limit": async (bench) => {
    await bench.fill(bench.size, group);
    for (let i = 0; i < 20; i++) await bench.operator().configureGroup(`g${i}`, { maxWorking: 1 });
    return async () => {
      for (let i = 0; i < 5; i++) await bench.queue().dequeue({ max: 100 });
    };
  },
  "dequeue 1,000 over a backlog of one group that just got a limit": async (bench) => {
    await bench.fill(bench.size, oneGroup);
    await bench.operator().configureGroup("g", { maxWorking: 1 });
    return async () => {
      for (let i = 0; i < 5; i++) await bench.queue().dequeue({ max: 1_000 });
    };
  },
  "complete 1,000": async (bench) => {
    const leased = await working(bench);
    return () => bench.settle(leased, "complete");
  },
  "reject 1,000 with a history, with events": async (bench) => {
    await bench.operator().configure({ events: true, statistics: true });
    await bench.fill(1_000);
    await bench.age(1_000, 16);
    const leased = await bench.lease(1_000, { worker });
    return () => bench.settle(leased, "reject");
  },
  "requeue 1,000 of 20 groups": async (bench) => {
    const leased = await working(bench, priority);
    return () => bench.settle(leased, "requeue");
  },
  "complete 1,000 of 20 groups at their limits": async (bench) => {
    for (let i = 0; i < 20; i++) await bench.operator().configureGroup(`g${i}`, { maxWorking: 50 });
    await bench.fill(4_000, priority);
    const leased = await bench.lease(1_000, { worker });
    return () => bench.settle(leased, "complete");
  },
  "complete 1,000 of 1,000 groups at their limits": async (bench) => {
    for (let i = 0; i < 1_000; i++) await bench.operator().configureGroup(`h${i}`, { maxWorking: 1 });
    await bench.fill(2_000, (i) => ({ group: `h${i % 1_000}` }));
    const leased = await bench.lease(1_000, { worker });
    return () => bench.settle(leased, "complete");
  },
  "extend 1,000 with progress": async (bench) => {
    const leased = await working(bench);
    return () =>
      bench
        .queue()
        .settle(
          leased.map(({ receipt }) => ({ receipt, outcome: "extend" as const, progress: { percent: 50 } })),
        );
  },
};
