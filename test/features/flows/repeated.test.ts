import { describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { flow } from "../../../src/http/flows/index.ts";
import { Operator, Queue, SluiceError } from "../../../src/index.ts";
import { task, useFlowRig } from "./flow-rig.ts";

// A flow that is added by several calls with the same id, or not at all.

const { rig, queue, operator, flows, sweep, add, take } = useFlowRig();

/** Queues of a process that dies at its request of that number, before it is sent or after it. */
function mortal(most: number, loses: "request" | "reply") {
  let requests = 0;
  const transport = linked({
    send: async (commands, options) => {
      requests++;
      const isDead = requests > most || (requests === most && loses === "request");
      if (isDead) throw new SluiceError("redis_unreachable", "the process is dead");
      const outcomes = await rig.transport.send(commands, options);
      if (requests === most) throw new SluiceError("redis_unreachable", "the process is dead");
      return outcomes;
    },
  });
  return (name: string) => new Queue<string>(name, { transport, now: () => rig.now });
}

describe("a call with the id of an earlier one", () => {
  test.for(
    [1, 2, 3].flatMap((most) => (["request", "reply"] as const).map((loses) => [most, loses] as const)),
  )("adds what that has not, which has died at request %i (%s)", async ([most, loses]) => {
    const call = (queueOf: (name: string) => Queue<string>) =>
      flow(
        [
          { ref: "a", queue: queueOf("one"), payload: "a" },
          { ref: "b", queue: queueOf("two"), payload: "b", after: "a" },
        ],
        { id: "f" },
      ).catch((error: unknown) => error);
    await call(mortal(most, loses));
    expect(await call(queue)).toMatchObject({ id: "f@one" });
    await (await take()).complete();
    await (await take("two")).complete();
    expect(await flows().get("f@one")).toMatchObject({ state: "completed", counts: { completed: 2 } });
  });

  test("adds nothing once the flow has ended, and a new flow once its record is gone", async () => {
    await add([task("a")]);
    await (await take()).complete();
    expect(await add([task("a")])).toMatchObject({ created: false });
    expect(await queue("one").dequeue()).toHaveLength(0);
    rig.now += 8 * 86_400_000;
    await sweep();
    expect(await flows().get("f@one")).toBeNull();
    expect(await add([task("a")])).toMatchObject({ created: true });
    expect((await take()).payload).toBe("a");
  });
});

test("a flow that its first queue has no room for is refused, and nothing of it is there", async () => {
  await operator("one").configure({ maxPending: 1 });
  const before = await rig.keySpace();
  const items = [task("a"), task("b"), task("c", "a", { queue: "two" })];
  await expect(add(items)).rejects.toMatchObject({ code: "queue_full" });
  const after = await rig.keySpace();
  expect(Object.keys(after).filter((key) => key.includes("{"))).toEqual(
    Object.keys(before).filter((key) => key.includes("{")),
  );
  expect(after["sluice:{one}:tasks"]).toEqual(before["sluice:{one}:tasks"]);
});

test("a flow may have a prefix of its own", async () => {
  const options = { transport: linked(rig.transport), now: () => rig.now, prefix: "own" };
  const [one, two] = [new Queue("one", options), new Queue("two", options)];
  const { id } = await flow(
    { ref: "a", queue: one, payload: 1 },
    { ref: "b", queue: two, payload: 2, after: "a" },
  );
  for (const at of [one, two]) for (const one of await at.dequeue()) await one.complete();
  expect(await new Operator("two", options).list({ state: "completed" })).toMatchObject({
    tasks: [{ state: "completed" }],
  });
  expect(id).toMatch(/@one$/);
  expect(Object.keys(await rig.keySpace()).filter((key) => !key.startsWith("own:"))).toEqual([]);
});
