import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Command, Transport } from "../../src/index.ts";
import { fixChance } from "../support/day.ts";
import { many, named } from "../support/new-tasks.ts";
import { recorded } from "../support/recorded.ts";
import { useRig } from "../support/rig.ts";

// Real time: dequeues that wait follow the clocks of this process and of Redis.
const rig = useRig();
const queue = (transport = rig.transport) => rig.queue({ now: undefined, transport });

// One pair of random tokens in 1,024 shares a slot, and the later one then takes it.
beforeEach(() => fixChance());
afterEach(() => void vi.restoreAllMocks());

const isPull = (command: Command | undefined) =>
  command !== undefined && "script" in command && command.script.name === "dequeue";

/** Sends the first dequeue as its resend, and keeps its first copy, which arrives late. */
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

describe.each([
  ["with a caller's token", "token-01"],
  ["without a token", undefined],
])("a late first copy of a dequeue that waits, %s", (_, token) => {
  test("leases nothing if it waited without result", async () => {
    const late: Command[] = [];
    expect(await queue(delaying(late)).dequeue({ wait: 100, token })).toHaveLength(0);
    expect(late).toHaveLength(1);
    await queue().enqueue(1);
    await rig.transport.send(late);
    expect(await queue().dequeue()).toHaveLength(1);
  });

  test("does not affect what a later call leased", async () => {
    const late: Command[] = [];
    const waiting = queue(delaying(late)).dequeue({ wait: "20s", token });
    await expect.poll(() => late.length).toBeGreaterThan(0);
    await queue().enqueueMany(many(2));
    const [task] = await waiting;
    await rig.transport.send(late);
    expect(await task?.complete()).toMatchObject({ ok: true });
    expect((await queue().dequeue()).map(({ attempt }) => attempt)).toEqual([1]);
  });
});

test("a late copy of a dequeue's first call leases nothing if it continued behind cancelled tasks", async () => {
  await rig.operator().configure({ statistics: true });
  await queue().enqueueMany(named(["a", "b"]));
  await Promise.all(["a", "b"].map((id) => queue().cancel(id)));
  const { transport, requests } = recorded(rig);
  expect(await queue(transport).dequeue()).toHaveLength(0);
  const pulls = requests.flat().filter(isPull);
  expect(pulls).toHaveLength(2);
  await queue().enqueue(1);
  await rig.transport.send(pulls.slice(0, 1));
  expect(await queue().dequeue()).toHaveLength(1);
});
