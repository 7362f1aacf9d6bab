import { expect, test } from "vitest";
import { deepSweep, type Transport } from "../../src/index.ts";
import type { Command } from "../../src/queue/transport.ts";
import { deepTools } from "../support/deep.ts";
import { numbered } from "../support/new-tasks.ts";
import { key, useRig } from "../support/rig.ts";

// What happens between two calls of one deep sweep. After each test the rig holds the queue against every invariant.
const rig = useRig();
const { look, enqueue, drained } = deepTools(rig);

/** What a command is called here: by its script and second argument where that is no number, or by its first words. */
const nameOf = (command: Command) => {
  if (!("script" in command)) return command.slice(0, 2).join(" ");
  const { script, args } = command;
  return ["audit", "regroup"].includes(script.name) ? `${script.name} ${args[1]}` : script.name;
};

/** A deep sweep; before the first command of each name something else happens. */
async function lookWith(happens: Readonly<Record<string, () => Promise<unknown>>>) {
  const left = new Map(Object.entries(happens));
  const transport: Transport = {
    async send(commands, options) {
      for (const command of commands) {
        const name = nameOf(command);
        const act = left.get(name);
        left.delete(name);
        await act?.();
      }
      return rig.transport.send(commands, options);
    },
  };
  const { faults } = await deepSweep(transport, { now: () => rig.now });
  expect([...left.keys()]).toEqual([]);
  return faults.map(({ fault, ids }) => [fault, ...ids]);
}

test("entries that move on while it looks are found again, and the one that comes out first is kept", async () => {
  await rig.queue().enqueueMany(numbered(20));
  await rig.command("LINSERT", key("pending"), "BEFORE", "t15", "t5");
  const newcomers = async () => void (await rig.queue().enqueueMany(numbered(100, {}, "new")));
  expect(await lookWith({ weed: newcomers })).toEqual([["two_places", "t5"]]);
  const ids = [...numbered(20), ...numbered(100, {}, "new")].map(({ id }) => id);
  expect(await drained()).toEqual(ids);
});

test("a task that leaves the list and comes back while it looks gets no second place", async () => {
  await enqueue("a", "b");
  const queue = rig.queue();
  const leased: Awaited<ReturnType<typeof queue.dequeue>>[number][] = [];
  const list = `LRANGE ${key("pending")}`;
  const faults = await lookWith({
    [list]: async () => leased.push(...(await queue.dequeue())),
    repair: async () => leased[0]?.requeue(),
  });
  expect(faults).toEqual([]);
  expect((await rig.space()).pending).toEqual(["a", "b"]);
});

test("ghosts that come and go while it counts stay counted as they are", async () => {
  await enqueue("x", "y", "z");
  const queue = rig.queue();
  await queue.cancel("x");
  const faults = await lookWith({
    // It drops the ghost of x, and leases y.
    "audit tasks": () => queue.dequeue(),
    [`LRANGE ${key("pending")}`]: () => queue.cancel("z"),
  });
  expect(faults).toEqual([]);
  expect(await queue.counts()).toMatchObject({ pending: 0, working: 1 });
  expect((await look()).faults).toEqual([]);
});

test("what dequeue puts aside while it looks is left to the next one", async () => {
  await enqueue("a", "b");
  const putAside = async () => {
    await rig.command("RPUSH", key("pending"), "lost");
    await rig.queue().dequeue();
  };
  await putAside();
  expect(await rig.queue().counts()).toMatchObject({ broken: 1 });
  expect(await lookWith({ [`LRANGE ${key("pending")}`]: putAside })).toEqual([]);
  expect(await rig.queue().counts()).toMatchObject({ broken: 1, working: 2 });
  await look();
  expect(await rig.queue().counts()).toMatchObject({ broken: 0, working: 2 });
});

test("a group that goes on between its count and what is made of that is left as it is", async () => {
  await rig.queue().enqueueMany(numbered(600, { group: "g" }, "g"));
  await rig.queue().enqueueMany(numbered(600, { group: "h" }, "h"));
  // Where one call can count them all it does; here the caller has counted.
  expect(await lookWith({ "regroup 1": () => rig.queue().dequeue({ max: 3 }) })).toEqual([]);
  expect(await rig.operator().groupSettings("g")).toMatchObject({ ready: 598, working: 2 });
});
