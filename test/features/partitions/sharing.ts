import { slotOf } from "../../../src/kernel/names/slots.ts";
import { rebalanceShares } from "../../../src/features/partitions/shares.ts";
import { instances } from "../../support/instances.ts";
import { QUEUE, type Rig } from "../../support/rig.ts";

export const ALL = [0, 1, 2, 3];

/** By partition, a text whose slot it owns: each of four has 64 of the 256 slots. */
export const TAGS = ALL.map((partition) => {
  for (let i = 0; ; i++) if (Math.floor(slotOf(String(i)) / 64) === partition) return String(i);
});

/** The ids of some tasks that are all in that partition. */
export const idsIn = (partition: number, count: number) =>
  Array.from({ length: count }, (_, i) => `x${i}{${TAGS[partition]}}`);

export const sum = (all: readonly number[]) => all.reduce((total, one) => total + one, 0);

/** How a queue with four partitions shares its limits. */
export function sharing(rig: Rig) {
  const { keysIn } = instances(rig);

  async function field(partition: number, name: string): Promise<string> {
    const value = await rig.command("HGET", keysIn(partition).tasks, name);
    return typeof value === "string" ? value : "";
  }
  /** A letter of the settings of each partition. */
  const letters = (letter: string) =>
    Promise.all(ALL.map(async (at) => new RegExp(`;${letter}=([^;]*)`).exec(await field(at, "~set"))?.[1]));
  const sizeOf = async (command: string, key: string) => Number(await rig.command(command, key));

  return {
    field,
    letters,
    shares: async (letter = "m") =>
      (await letters(letter)).map((text) => Number(text?.split("/")[0] ?? Number.NaN)),
    working: async () => sum(await Promise.all(ALL.map((at) => sizeOf("ZCARD", keysIn(at).working)))),
    async loads() {
      const found = ALL.map(async (at) => {
        const { pending, fair, working } = keysIn(at);
        const waiting = (await sizeOf("LLEN", pending)) + (await sizeOf("ZCARD", fair));
        return [at, { pending: waiting, working: await sizeOf("ZCARD", working) }] as const;
      });
      return new Map(await Promise.all(found));
    },
    rebalance: (transport = rig.transport, wake = "") =>
      rebalanceShares({ name: QUEUE, transport, now: () => rig.now }, ALL, wake),
  };
}
