// Deep sweeps of large queues, undamaged and damaged.

import { queueKeys } from "../../src/kernel/names/keys.ts";
import { NAME, priority, type Case, worker } from "./bench.ts";

export const repair: Record<string, Case> = {
  "deep sweep over 20,000": async (bench) => {
    await bench.fill(bench.size);
    return () => bench.look();
  },
  "deep sweep over 20,000 with a history": async (bench) => {
    await bench.fill(bench.size);
    await bench.age(bench.size, 10);
    return () => bench.look();
  },
  "deep sweep over 20,000 of 20 groups": async (bench) => {
    await bench.fill(bench.size, priority);
    await bench.lease(2_000, { worker });
    return () => bench.look();
  },
  "deep sweep over 20,000 of 1,000 groups with limits": async (bench) => {
    for (let i = 0; i < 1_000; i++) await bench.operator().configureGroup(`h${i}`, { maxWorking: 1 });
    await bench.fill(bench.size, (i) => ({ group: `h${i % 1_000}` }));
    await bench.lease(800, { worker });
    return () => bench.look();
  },
  "deep sweep over 900 of 900 groups": async (bench) => {
    await bench.fill(900, (i) => ({ group: `h${i}` }));
    return () => bench.look();
  },
  "deep sweep over 5,000 delayed, working, dead, completed": async (bench) => {
    await bench.fill(5_000);
    const leased = await bench.lease(5_000, { worker });
    await bench.settle(leased.slice(0, 1_500), "reject");
    await bench.settle(leased.slice(1_500, 3_000), "complete");
    await bench.fill(2_000, (i) => ({ ...priority(i), delay: "1h" }), 5_000);
    return () => bench.look();
  },
  "deep sweep after 5,000 tasks were lost from pending": async (bench) => {
    await bench.fill(5_000);
    const { pending } = queueKeys(NAME);
    await bench.command("DEL", pending);
    return () => bench.look();
  },
  "deep sweep after 5,000 tasks of 20 groups were lost from fair": async (bench) => {
    await bench.fill(5_000, priority);
    const { fair, fairByGroup } = queueKeys(NAME);
    await bench.command("DEL", fair, fairByGroup);
    return () => bench.look();
  },
  "deep sweep after the leases of 5,000 were lost": async (bench) => {
    await bench.fill(5_000, priority);
    await bench.lease(5_000, { worker });
    const { working: leases } = queueKeys(NAME);
    await bench.command("DEL", leases);
    return () => bench.look();
  },
  "deep sweep over a list that went back in time": async (bench) => {
    await bench.fill(bench.size);
    const { pending } = queueKeys(NAME);
    for (let i = 0; i < 3_000; i += 500) {
      await bench.command("LPUSH", pending, ...Array.from({ length: 500 }, (_, j) => `t${2 * (i + j)}`));
    }
    return () => bench.look();
  },
};
