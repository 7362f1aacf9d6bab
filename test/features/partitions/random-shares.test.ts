import * as fc from "fast-check";
import { expect, test } from "vitest";
import { SluiceError, type Command, type CommandOutcome, type Transport } from "../../../src/index.ts";
import { instances } from "../../support/instances.ts";
import { named } from "../../support/new-tasks.ts";
import { useRig } from "../../support/rig.ts";
import { ALL, sharing, sum, TAGS } from "./sharing.ts";

const rig = useRig();
const { operatorOf, queueOf } = instances(rig);
const { shares, working, rebalance } = sharing(rig);
const operator = () => operatorOf(4, rig.transport);

test("the shares of a limit never allow more in all, whatever happens in which order", async () => {
  const action = fc.oneof(
    { weight: 4, arbitrary: fc.record({ do: fc.constant("enqueue"), at: fc.constantFrom(...ALL) }) },
    { weight: 5, arbitrary: fc.record({ do: fc.constant("dequeue"), max: fc.integer({ min: 1, max: 5 }) }) },
    { weight: 3, arbitrary: fc.record({ do: fc.constant("settle") }) },
    {
      weight: 3,
      arbitrary: fc.record({ do: fc.constant("rebalance"), dies: fc.constantFrom(2, 4, 7, 8, 99, 99, 99) }),
    },
    {
      weight: 1,
      arbitrary: fc.record({ do: fc.constant("configure"), most: fc.integer({ min: 1, max: 9 }) }),
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(action, { minLength: 20, maxLength: 60 }),
      fc.scheduler(),
      async (actions, s) => {
        await rig.command("FLUSHALL");
        // A new transport, which does not remember the partitions of the run before.
        const { send } = rig.transport;
        rig.transport = { send };
        let limit = 4;
        // Tasks that work under an earlier, higher limit may go on.
        let allowed = 4;
        let n = 0;
        const held: string[] = [];
        const faults: string[] = [];
        const late: Promise<unknown>[] = [];
        const transport = (dies = 99): Transport => {
          let left = dies;
          const one = async (command: Command) => {
            await s.schedule(Promise.resolve());
            if (left-- <= 0) throw new SluiceError("redis_unreachable", "the process has died");
            const leases = "script" in command && /dequeue/i.test(command.script.name);
            const before = leases ? await working() : 0;
            const [outcome] = await rig.transport.send([command]);
            const after = leases ? await working() : 0;
            if (after > before && after > allowed) faults.push(`${after} of ${limit} work`);
            return outcome as CommandOutcome;
          };
          return {
            // Other calls come between the commands of a request, and late copies of them after it.
            send: async (commands) => {
              const outcomes: CommandOutcome[] = [];
              for (const command of commands) {
                outcomes.push(await one(command));
                if ("script" in command && command.script.name === "setShares") {
                  late.push(s.schedule(Promise.resolve()).then(() => rig.transport.send([command])));
                }
              }
              return outcomes;
            },
          };
        };
        await queueOf(4, rig.transport).enqueue(0, { id: `first{${TAGS[0]}}` });
        await operator().configure({ maxWorking: limit });
        const act = async (one: (typeof actions)[number]) => {
          if (one.do === "enqueue") {
            const ids = [0, 1, 2].map(() => `n${n++}{${TAGS[one.at]}}`);
            await queueOf(4, transport()).enqueueMany(named(ids));
          } else if (one.do === "dequeue") {
            const tasks = await queueOf(4, transport()).dequeue({ max: one.max });
            held.push(...tasks.map(({ receipt }) => receipt));
          } else if (one.do === "settle") {
            const settlements = held
              .splice(0, 2)
              .map((receipt) => ({ receipt, outcome: "complete" as const }));
            if (settlements.length > 0) await queueOf(4, transport()).settle(settlements);
          } else if (one.do === "rebalance") {
            await rebalance(transport(one.dies)).catch((error: unknown) => {
              if (one.dies === 99) throw error;
            });
          } else {
            // Until the call returns, either limit may hold.
            allowed = Math.max(limit, one.most, allowed);
            await operatorOf(4, transport()).configure({ maxWorking: one.most });
            limit = (await operator().settings()).maxWorking ?? 0;
          }
        };
        await s.waitFor(Promise.all(actions.map(act)));
        await s.waitFor(Promise.all(late));
        expect(faults).toEqual([]);
        await rebalance();
        await rebalance();
        expect(sum(await shares())).toBeLessThanOrEqual(limit);
        // At rest the limit is exact.
        allowed = limit;
        await s.waitFor(act({ do: "dequeue", max: 5 }));
        expect(faults).toEqual([]);
      },
    ),
    // The same runs each time, so that a failure comes from a change of the code.
    { numRuns: 60, seed: 20_261_130 },
  );
}, 120_000);
