import { afterEach, describe, expect, test, vi } from "vitest";
import { QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(() => vi.restoreAllMocks());

describe("the registry", () => {
  test("a queue is noted before its first task, then at most once a minute an instance", async () => {
    const queue = rig.queue();
    await queue.enqueue(1);
    rig.now += 5_000;
    await queue.enqueue(1);
    await rig.queue().enqueue(1);
    expect((await rig.keySpace())["sluice:queues"]).toEqual({ zset: [[QUEUE, START]] });
  });

  test("an instance whose clock jumped back notes it again", async () => {
    const clock = vi.spyOn(Date, "now").mockReturnValue(START);
    const queue = rig.queue();
    await queue.enqueue(1);
    await rig.command("DEL", "sluice:queues");
    clock.mockReturnValue(START + 59_999);
    await queue.enqueue(2);
    expect(await rig.keySpace()).not.toHaveProperty(["sluice:queues"]);
    clock.mockReturnValue(START - 3_600_000);
    await queue.enqueue(3);
    expect((await rig.keySpace())["sluice:queues"]).toEqual({ zset: [[QUEUE, START]] });
  });
});
