import { describe, expect, test } from "vitest";
import { key, QUEUE, START, useRig } from "../support/rig.ts";

const rig = useRig();
const registry = { "sluice:queues": { zset: [[QUEUE, START]] } };

describe("the whole key space after each transition", () => {
  test("enqueue, dequeue, complete, expire", async () => {
    const queue = rig.queue();
    await queue.enqueue({ to: "a" }, { id: "a1" });
    const [, token] = /;t=(\w+)/.exec((await rig.space()).tasks.get("a1") ?? "") ?? [];
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("pending")]: { list: ["a1"] },
      [key("tasks")]: { hash: { a1: `1;${START};t=${token}\nj{"to":"a"}` } },
    });

    rig.now += 10;
    const [task] = await queue.dequeue({ lease: 5_000, token: "token-01" });
    const slot = [...(await rig.space()).tasks].find(([field]) => field.startsWith("~r"));
    expect(slot?.[1]).toBe("token-01 a1");
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("working")]: { zset: [["a1", START + 5_010]] },
      [key("tasks")]: {
        hash: {
          ".a1": `1;2;${START};1;1;w;1;token-01;${START + 10};5000;t=${token};h=w10\n`,
          a1: `1;${START};t=${token}\nj{"to":"a"}`,
          "~lease": "1",
          [slot?.[0] ?? ""]: "token-01 a1",
        },
      },
    });

    rig.now += 10;
    expect(await task?.complete({ ok: 1 })).toEqual({ receipt: task?.receipt, ok: true, state: "completed" });
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("expiry")]: { zset: [["a1", START + 20 + 3_600_000]] },
      [key("tasks")]: {
        hash: {
          ".a1":
            `1;3;${START};1;1;c;1;;${START + 10};;z=${START + 20};t=${token};h=w10c20` +
            `;p=1,token-01,complete,completed,,0,0\nj{"ok":1}`,
          a1: "",
          "~lease": "1",
          [slot?.[0] ?? ""]: "token-01 a1",
        },
      },
    });

    rig.now += 3_600_000;
    expect(await rig.sweepOnce()).toEqual(["ok", 0, 0, 0, 1, 0, 0, 0]);
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("tasks")]: { hash: { "~lease": "1", [slot?.[0] ?? ""]: "token-01 a1" } },
    });
  });

  test("delay, promote, requeue with delay, reject, expire", async () => {
    const queue = rig.queue({ deadTtl: "10m", maxAttempts: 2 });
    const { id } = await queue.enqueue(7, { delay: "30s" });
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("delayed")]: { zset: [[id, START + 30_000]] },
      [key("tasks")]: { hash: { [id]: `1;${START};m=2;d=600000\nj7` } },
    });

    rig.now += 30_000;
    await rig.sweepOnce();
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("pending")]: { list: [id] },
      [key("tasks")]: { hash: { [id]: `1;${START};m=2;d=600000\nj7` } },
    });

    const [task] = await queue.dequeue({ lease: 1_000, token: "token-01" });
    await task?.requeue({ delay: 500, error: "again" });
    const slots = Object.fromEntries(
      [...(await rig.space()).tasks].filter(([field]) => field.startsWith("~")),
    );
    expect(await rig.keySpace()).toEqual({
      ...registry,
      [key("delayed")]: { zset: [[id, START + 30_500]] },
      [key("tasks")]: {
        hash: {
          [`.${id}`]:
            `1;3;${START};1;1;;1;;${START + 30_000};;u=${START + 30_000};b=1;m=2;d=600000` +
            `;E=1 30000 j"again";h=w30000d30000;p=1,token-01,requeue,delayed,,${START + 30_500},0\nj"again"`,
          [id]: `1;${START};m=2;d=600000\nj7`,
          ...slots,
        },
      },
    });

    rig.now += 500;
    const [second] = await queue.dequeue({ lease: 1_000, token: "token-02" });
    expect(second).toMatchObject({ id, payload: 7, attempt: 2 });
    expect(await second?.reject({ why: "no" })).toMatchObject({ state: "rejected", reason: "rejected" });
    const space = await rig.space();
    expect([...space.dead]).toEqual([[id, START + 30_500]]);
    expect([...space.expiry]).toEqual([[id, START + 630_500]]);
    expect(space.tasks.get(id)).toBe(`1;${START};m=2;d=600000\nj7`);
    expect(space.tasks.get(`.${id}`)).toBe(
      `1;5;${START};2;2;r;2;;${START + 30_500};;u=${START + 30_000};b=1;z=${START + 30_500};y=rejected;m=2` +
        `;d=600000;E=1 30000 j"again"\t2 30500 j{"why":"no"};h=w30000d30000w30500r30500;p=2,token-02,reject,rejected,rejected,0,0\nj{"why":"no"}`,
    );

    rig.now += 600_000;
    await rig.sweepOnce();
    const after = await rig.space();
    expect([...after.tasks.keys()].filter((field) => !field.startsWith("~"))).toEqual([]);
    expect([after.dead.size, after.expiry.size]).toEqual([0, 0]);
  });
});
