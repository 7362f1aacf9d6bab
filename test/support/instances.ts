/** Instances of functions that share the queue of a rig: each knows only what it has read itself. */
import { expect } from "vitest";
import { Operator, Queue, Schedules, sweep, type Transport } from "../../src/index.ts";
import { nameOfShard, queueKeys } from "../../src/kernel/names/keys.ts";
import { slotOf } from "../../src/kernel/names/slots.ts";
import { prepareChange } from "../../src/features/partitions/copy-settings.ts";
import { fetchMap } from "../../src/features/partitions/map-calls.ts";
import { resizeQueue } from "../../src/features/partitions/resize.ts";
import { ownedSlots } from "./partition-spaces.ts";
import { QUEUE, type Rig } from "./rig.ts";

type Sent = Parameters<Transport["send"]>;

export function instances(rig: Rig) {
  const now = () => rig.now;

  /** The transport of a new instance. `before` runs in front of each of its requests, which count from 0. */
  const instance = (before?: (request: number, ...sent: Sent) => unknown): Transport => {
    let requests = 0;
    return {
      async send(...sent) {
        await before?.(requests++, ...sent);
        return rig.transport.send(...sent);
      },
    };
  };
  /** The transport of an instance that dies at one of its requests, which may have run. */
  const dying = (at: number, ran = false) =>
    instance(async (request, ...sent) => {
      if (request < at) return;
      if (ran) await rig.transport.send(...sent);
      throw new Error("killed");
    });
  /** The transport of an instance in front of whose given request something happens. */
  const between = (at: number, happens: () => Promise<unknown>) =>
    instance((request) => (request === at ? happens() : undefined));

  const over = (transport: Transport, partitions?: number | "stored") => ({ transport, partitions, now });
  const queueOf = <Payload = unknown>(partitions?: number | "stored", transport = instance()) =>
    new Queue<Payload>(QUEUE, over(transport, partitions));
  const place = (transport: Transport) => ({
    name: QUEUE,
    prefix: undefined,
    transport,
    now,
    prepare: prepareChange,
  });
  const map = () => fetchMap(place(instance()));
  const keysIn = (partition: number) => queueKeys(nameOfShard(QUEUE, partition));
  const run = (transport = instance(), options: Parameters<typeof sweep>[1] = {}) =>
    sweep(transport, { now, ...options });

  return {
    now,
    instance,
    dying,
    between,
    over,
    queueOf,
    operatorOf: (partitions?: number | "stored", transport = instance()) =>
      new Operator(QUEUE, over(transport, partitions)),
    schedulesOf: (transport = instance()) => new Schedules(QUEUE, { transport, now }),
    place,
    map,
    resize: (count: number, transport = instance()) => resizeQueue(place(transport), count),
    keysIn,
    run,

    /** Sweeps all partitions. */
    async sweepAll() {
      const report = await run();
      expect(report.failed).toEqual([]);
      return report;
    },

    /** A control field in each of the first partitions. */
    fieldsOf: (field: string, count: number) =>
      Promise.all(
        Array.from({ length: count }, (_, partition) => rig.command("HGET", keysIn(partition).tasks, field)),
      ),

    /** The slots that a partition notes as its own. */
    async slotsIn(partition: number): Promise<number[]> {
      return ownedSlots(String(await rig.command("HGET", keysIn(partition).tasks, "~slots"))).slots;
    },

    /** The first of some texts whose slot a partition owns. */
    async textIn(partition: number, form: (i: number) => string = (i) => `t${i}`): Promise<string> {
      const { owners } = await map();
      for (let i = 0; ; i++) if (owners[slotOf(form(i))] === partition) return form(i);
    },

    /** Takes all tasks and completes them. @returns their ids, sorted */
    async drainAll(queue: Pick<Queue, "dequeue" | "settle"> = queueOf()): Promise<string[]> {
      const ids: string[] = [];
      for (;;) {
        const tasks = await queue.dequeue({ max: 50 });
        if (tasks.length === 0) return ids.toSorted();
        await queue.settle(tasks.map(({ receipt }) => ({ receipt, outcome: "complete" as const })));
        ids.push(...tasks.map(({ id }) => id));
      }
    },
  };
}
