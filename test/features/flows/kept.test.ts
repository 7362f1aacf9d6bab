import { describe, expect, test } from "vitest";
import { linked } from "../../../src/features/linked/index.ts";
import { Queue, SluiceError } from "../../../src/index.ts";
import { task, useFlowRig } from "./flow-rig.ts";

const { rig, queue, operator, flows, sweep, add, take } = useFlowRig();
const A_DAY = 86_400_000;

describe("what became of a task is kept until its flow has ended", () => {
  test.for([["0s"], ["1s"]])("also if its result and dead letter are kept for %s", async ([ttl]) => {
    const kept = { resultTtl: ttl, deadTtl: ttl } as object;
    await add([
      task("a", [], kept),
      task("b", [], { ...kept, queue: "two" }),
      task("c", "a"),
      task("last", ["a", "c", { ref: "b", on: "ended" }]),
    ]);
    await (await take()).complete("of a");
    await (await take("two")).reject("no b");
    for (let days = 0; days < 3; days++) {
      rig.now += A_DAY;
      await sweep();
    }
    await (await take()).complete("of c");
    rig.now += A_DAY;
    await sweep();
    const last = await take();
    expect(await last.before()).toEqual({
      a: { state: "completed", result: "of a" },
      b: { state: "rejected", reason: "rejected", error: "no b" },
      c: { state: "completed", result: "of c" },
    });
    await last.complete();
    // From the end on, each is kept for its own time.
    rig.now += 60 * 60_000;
    await sweep();
    expect(await queue("one").get("0{f@one}")).toBeNull();
    expect(await queue("two").get("1{f@one}")).toBeNull();
  });

  test("a task that is removed, or purged, has ended as it did for what follows it", async () => {
    await add([
      task("a"),
      task("b"),
      task("c"),
      task("next", ["a", "c"]),
      task("clean", [
        { ref: "b", on: "ended" },
        { ref: "c", on: "ended" },
      ]),
    ]);
    const [a, b, c] = await queue("one").dequeue({ max: 3 });
    await a!.complete("of a");
    await b!.reject("no");
    rig.now += 1;
    expect(await operator("one").remove(a!.id)).toMatchObject({ ok: true });
    expect(await operator("one").purge({ state: "rejected" })).toMatchObject({ purged: 1 });
    await c!.complete();
    expect((await queue("one").dequeue({ max: 10 })).map(({ payload }) => payload).toSorted()).toEqual([
      "clean",
      "next",
    ]);
    expect(await flows().get("f@one")).toMatchObject({
      counts: { completed: 2, rejected: 1, working: 2 },
    });
  });

  test("a task whose follower is in another queue may be removed before that is notified", async () => {
    await add([task("a"), task("next", "a", { queue: "two" })]);
    let requests = 0;
    const transport = linked({
      send: (commands, options) => {
        requests++;
        if (requests > 2) throw new SluiceError("redis_unreachable", "the process is dead");
        return rig.transport.send(commands, options);
      },
    });
    const [a] = await new Queue("one", { transport, now: () => rig.now }).dequeue();
    await a!.complete();
    expect(await queue("two").counts()).toMatchObject({ blocked: 1 });
    expect(await operator("one").remove(a!.id)).toMatchObject({ ok: true });
    await sweep();
    expect((await take("two")).payload).toBe("next");
  });
});
