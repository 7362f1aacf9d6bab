import { expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import type { LeasedTask, Transport } from "../../../src/index.ts";
import { SluiceError } from "../../../src/errors.ts";
import { dice } from "../../support/dice.ts";
import { instances } from "../../support/instances.ts";
import { violations } from "../../support/invariants.ts";
import { partitionSpaces } from "../../support/partition-spaces.ts";
import { QUEUE, useRig } from "../../support/rig.ts";

// Random calls on a queue in strict order whose partitions change. Callers die on the way, before or after Redis ran
// their request.
const rig = useRig({ checkInvariants: false });
const { instance, dying, queueOf, operatorOf, map, run } = instances(rig);

/** The same calls each time, so that a failure comes from a change of the code. */
const SEEDS = (process.env["RESIZE_SEEDS"] ?? "1,2,3").split(",").map(Number);
const STEPS = Number(process.env["RESIZE_STEPS"] ?? 70);
const GROUPS = ["a", "b", "c", "d", "e"];
const LEASE = 300_000;

interface Held {
  readonly task: LeasedTask<number>;
  readonly until: number;
}

class History {
  /** By group, what is being worked on. */
  readonly held = new Map<string, Held>();
  /** By group, tasks that were added for at once, in order, and how many of them have begun. */
  readonly added = new Map<string, string[]>();
  readonly begun = new Map<string, number>();
  /** All ids that have not ended. */
  readonly open = new Set<string>();

  take(tasks: readonly LeasedTask<number>[]): void {
    for (const task of tasks) {
      const group = groupOf(task.id);
      const other = this.held.get(group);
      if (other && other.until > rig.now) expect(`${task.id} is delivered`).toBe(`${other.task.id} works`);
      this.held.set(group, { task, until: rig.now + LEASE });
      const begun = this.begun.get(group) ?? 0;
      const next = this.added.get(group)?.[begun];
      if (task.attempt === 1 && task.id.startsWith("t")) {
        expect(task.id).toBe(next);
        this.begun.set(group, begun + 1);
      }
    }
  }

  end({ id }: LeasedTask<number>): void {
    this.held.delete(groupOf(id));
    this.open.delete(id);
  }
}

const groupOf = (id: string) => /\{(.*)\}/.exec(id)?.[1] as string;

test.each(SEEDS)(
  "one task of a group at a time, in order, in random changes of partitions: seed %i",
  async (seed) => {
    const roll = dice(seed);
    const below = (most: number) => Math.floor(roll() * most);
    const history = new History();
    const known = linked(instance());
    /** Calls, and if the caller dies, calls again in another instance. */
    const call = async (use: (transport: Transport) => Promise<unknown>, again = true) => {
      try {
        await use(roll() < 0.4 ? linked(dying(below(12), roll() < 0.5)) : linked(instance()));
      } catch (error) {
        if (error instanceof SluiceError) throw error;
        if (again) await use(linked(instance()));
      }
    };
    const settle = async ({ task }: Held) => {
      const way = below(10);
      if (way < 6) {
        const { ok } = await task.complete();
        if (ok) history.end(task);
      } else if (way < 7) {
        const { ok } = await task.requeue();
        if (ok) history.held.delete(groupOf(task.id));
      } else if (way < 8) {
        const { ok } = await task.requeue({ delay: "40s" });
        if (ok) history.held.delete(groupOf(task.id));
      } else {
        const { ok } = await task.reject();
        if (ok) history.end(task);
      }
    };
    const reader = queueOf<number>(undefined, known);
    const take = async (max: number) => history.take(await reader.dequeue({ max, lease: LEASE }));
    await operatorOf(undefined, known).configure({ order: "strict" });

    for (let step = 0; step < STEPS; step++) {
      const what = below(20);
      const group = GROUPS[below(GROUPS.length)] as string;
      if (what < 6) {
        const id = `t${step}{${group}}`;
        history.open.add(id);
        await call((transport) => queueOf(undefined, transport).enqueue(step, { id, group }));
        history.added.set(group, [...(history.added.get(group) ?? []), id]);
      } else if (what < 7) {
        const id = `late${step}{${group}}`;
        history.open.add(id);
        await call((transport) => queueOf(undefined, transport).enqueue(step, { id, group, delay: "50s" }));
      } else if (what < 11) await take(1 + below(3));
      else if (what < 15) {
        const held = [...history.held.values()].filter(({ until }) => until > rig.now);
        const one = held[below(held.length)];
        if (one) await settle(one);
      } else if (what < 17) await call(run, false);
      else if (what < 18) rig.now += 30_000;
      else if (what < 19) {
        const found = (await operatorOf(undefined, known).list({ state: "rejected" })).tasks;
        const letter = found[below(found.length)];
        if (letter) {
          history.open.add(letter.id);
          await call((transport) => operatorOf(undefined, transport).redrive({ ids: [{ id: letter.id }] }));
        }
      } else
        await call(
          (transport) => operatorOf(undefined, transport).resize([4, 2, 1, 3][below(4)] as number),
          false,
        );
    }
    for (let pass = 0; history.open.size > 0 && pass < 400; pass++) {
      rig.now += 50_000;
      await run(known);
      await take(5);
      for (const { task, until } of history.held.values())
        if (until > rig.now && (await task.complete()).ok) history.end(task);
    }
    if (history.open.size > 0) {
      console.log([...history.open], await map());
      for (const [p, s] of partitionSpaces(await rig.keySpace(), QUEUE)) console.log(p, s);
    }
    expect([...history.open]).toEqual([]);
    for (let pass = 0; pass < 3; pass++) await run(known);
    expect((await map()).next).toBeUndefined();
    for (const space of partitionSpaces(await rig.keySpace(), QUEUE).values()) {
      expect(violations(space)).toEqual([]);
      expect([...space.tasks.keys()].filter((field) => field.startsWith("~o:"))).toEqual([]);
    }
  },
);
