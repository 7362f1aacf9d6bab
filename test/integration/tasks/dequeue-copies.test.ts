import { describe, expect, test } from "vitest";
import type { Command, Transport } from "../../../src/index.ts";
import { useRig } from "../../support/rig.ts";

// Real time: what waits here waits on the clock of this process and of Redis.
const rig = useRig();
const queue = (transport = rig.transport) => rig.queue({ now: undefined, transport });

const isPull = (command: Command | undefined) =>
  command !== undefined && "script" in command && command.script.name === "dequeue";

/** Sends the first dequeue as one that is sent again, and notes its first copy: it comes late. */
function delaying(late: Command[]): Transport {
  const resent = (command: Command): Command =>
    "script" in command ? { ...command, args: command.resendArgs ?? command.args } : command;
  return {
    send: (commands, options) => {
      if (!isPull(commands[0]) || late.length > 0) return rig.transport.send(commands, options);
      late.push(...commands);
      return rig.transport.send(commands.map(resent), options);
    },
  };
}

describe("a late first copy of a pull that waited in vain leases nothing", () => {
  test.each([
    ["with a token of the caller's", "token-01"],
    ["without", undefined],
  ])("%s", async (_, token) => {
    const late: Command[] = [];
    expect(await queue(delaying(late)).dequeue({ wait: 100, token })).toHaveLength(0);
    expect(late).toHaveLength(1);
    await queue().enqueue(1);
    await rig.transport.send(late);
    expect(await queue().dequeue()).toHaveLength(1);
  });
});

test.each([
  ["with a token of the caller's", "token-02"],
  ["without", undefined],
])(
  "a late first copy of a pull's earlier look takes nothing from what a later one leased: %s",
  async (_, token) => {
    const late: Command[] = [];
    const waiting = queue(delaying(late)).dequeue({ wait: "20s", token });
    await expect.poll(() => late.length).toBeGreaterThan(0);
    await queue().enqueueMany([{ payload: 1 }, { payload: 2 }]);
    const [task] = await waiting;
    await rig.transport.send(late);
    expect(await task?.complete()).toMatchObject({ ok: true });
    expect((await queue().dequeue()).map(({ attempt }) => attempt)).toEqual([1]);
  },
);

test("a late copy of the first call of a pull that went on behind cancelled tasks leases nothing", async () => {
  await rig.operator().configure({ statistics: true });
  await queue().enqueueMany(["a", "b"].map((id) => ({ id, payload: id })));
  await Promise.all(["a", "b"].map((id) => queue().cancel(id)));
  const sent: Command[] = [];
  const recording: Transport = {
    send: (commands, options) => {
      sent.push(...commands.filter(isPull));
      return rig.transport.send(commands, options);
    },
  };
  expect(await queue(recording).dequeue()).toHaveLength(0);
  expect(sent).toHaveLength(2);
  await queue().enqueue(1);
  await rig.transport.send(sent.slice(0, 1));
  expect(await queue().dequeue()).toHaveLength(1);
});
