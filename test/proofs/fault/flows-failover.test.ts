import { expect, test } from "vitest";
import type { After, FlowItem } from "../../../src/features/flows/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { flow, flows, Flows } from "../../../src/http/flows/index.ts";
import { deepSweep, type LeasedTask, Queue, sweep } from "../../../src/index.ts";
import { parts } from "../../../src/kernel/names/keys.ts";
import { dice } from "../../support/dice.ts";
import { leftOfFlows } from "../../support/flows-left.ts";
import { useRig } from "../../support/rig.ts";

// A promoted replica may have each key as of a different moment. Flows may lose tasks by that, but each one must end.
const rig = useRig({ checkInvariants: false });
const now = () => rig.now;

const QUEUES = ["one", "two"];
const STEPS = 40;
/** At most so many steps a key is set back. */
const BACK = 12;

const COPY = `for _, key in ipairs(redis.call('KEYS', 'sluice:{*')) do redis.call('COPY', key, ARGV[1] .. key) end`;

/** Some traffic, chosen at random; after each step every key is copied. */
async function traffic(roll: () => number, queues: readonly Queue[], whole: Flows): Promise<void> {
  const below = (count: number) => Math.floor(roll() * count);
  const open: LeasedTask[] = [];
  const known: string[] = [];
  const items = (depth: number): FlowItem<Queue>[] =>
    Array.from({ length: 1 + below(4) }, (_, i): FlowItem<Queue> => {
      const waits = [...new Set(Array.from({ length: i === 0 ? 0 : below(3) }, () => `t${below(i)}`))];
      const after = waits.map((ref): After => (below(3) === 0 ? { ref, on: "ended" } : ref));
      if (depth > 0 && below(5) === 0) return { ref: `t${i}`, after, flow: items(depth - 1) };
      return {
        ref: `t${i}`,
        after,
        queue: queues[below(queues.length)] as Queue,
        payload: i,
        maxAttempts: 2,
      };
    });
  for (let step = 0; step < STEPS; step++) {
    const blow = below(10);
    const task = open.splice(below(open.length), 1)[0];
    if (blow < 3) {
      const onFailure = below(3) === 0 ? ("cancel" as const) : undefined;
      known.push((await flow(items(1), { id: `f${step}`, onFailure })).id);
    } else if (blow < 6) {
      open.push(...((await queues[below(queues.length)]?.dequeue({ max: 4, lease: 500 })) ?? []));
    } else if (blow === 6) await whole.redrive(known[below(known.length)] ?? "f@one");
    else if (blow === 7) rig.now += 200;
    else if (blow === 8) await sweep(linked(rig.transport), { also: [flows], now });
    else if (below(3) === 0) await whole.cancel(known[below(known.length)] ?? "f@one");
    if (task) await (below(4) === 0 ? task.reject("no") : task.complete("done"));
    await rig.command("EVAL", COPY, "0", `old:${step}:`);
  }
}

test.each([5, 7, 8])(
  "after a failover that leaves each key as of another moment, a deep sweep lets each flow end (seed %i)",
  async (seed) => {
    const roll = dice(seed * 7_919);
    const transport = linked({ send: (commands, options) => rig.transport.send(commands, options) });
    const queues = QUEUES.map((name) => new Queue(name, { transport, now }));
    await traffic(roll, queues, new Flows({ transport, now }));
    for (const key of QUEUES.flatMap((name) => parts.map((part) => `sluice:{${name}}:${part}`))) {
      const step = STEPS - 1 - Math.floor(roll() * roll() * BACK);
      await rig.command("DEL", key);
      await rig.command("COPY", `old:${step}:${key}`, key);
    }

    let found: unknown[] = [1];
    for (let looks = 0; found.length > 0 && looks < 6; looks++) {
      const { faults, failed } = await deepSweep(transport, { now });
      found = [...faults, ...failed];
    }
    expect(found).toEqual([]);
    for (let left = 1, rounds = 0; left > 0 && rounds < 60; rounds++) {
      rig.now += 600;
      await sweep(transport, { also: [flows], now });
      left = 0;
      for (const queue of queues) {
        for (const task of await queue.dequeue({ max: 50, lease: 500 })) await task.complete();
        const { pending, delayed, working, blocked } = await queue.counts();
        left += pending + delayed + working + blocked;
      }
    }
    // An entry of the outbox that concerns a lost node goes once the layout of its flow is gone.
    rig.now += 604_800_001;
    for (let i = 0; i < 3; i++) await sweep(transport, { also: [flows], now });
    await rig.command(
      "EVAL",
      `for _, key in ipairs(redis.call('KEYS', 'old:*')) do redis.call('DEL', key) end`,
      "0",
    );
    expect(leftOfFlows(await rig.keySpace(), QUEUES)).toEqual([]);
  },
);
