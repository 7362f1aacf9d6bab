import { afterEach, describe, expect, test } from "vitest";
import { key, START, useRig } from "../../support/rig.ts";

const rig = useRig();
const WINDOW = 300_000;

async function completed() {
  const queue = rig.queue();
  await queue.enqueue("payload", { id: "a" });
  const [task] = await queue.dequeue();
  await task?.complete({ secret: "result" });
  return queue;
}

/** All entries of an id in the queue's keys. */
async function traces(id: string) {
  const { tasks, expiry, dead } = await rig.space();
  return { fixed: tasks.get(id), changing: tasks.get(`.${id}`), expiry: expiry.get(id), dead: dead.get(id) };
}

test("remove deletes the record of an ended task with its result; within five minutes of its end a tombstone keeps the id known", async () => {
  const queue = await completed();
  rig.now += 1_000;
  expect(await rig.operator().remove("a")).toEqual({ ok: true });
  expect(await queue.get("a")).toBeNull();
  expect(await queue.cancel("a")).toEqual({ ok: false, code: "not_found" });
  const { changing, ...left } = await traces("a");
  expect(left).toEqual({ fixed: "", expiry: START + WINDOW, dead: undefined });
  expect(changing).not.toContain("secret");
  const before = await rig.keySpace();
  expect(await rig.operator().remove("a")).toEqual({ ok: true });
  expect(await rig.keySpace()).toEqual(before);
  rig.now = START + WINDOW;
  await rig.sweepOnce();
  expect(await traces("a")).toEqual({});
  expect(await rig.operator().remove("a")).toEqual({ ok: false, code: "not_found" });
});

describe("remove is refused, with nothing changed (I3)", () => {
  afterEach(async () => rig.command("ACL", "SETUSER", "default", "+@all"));

  test("for an invalid id, for a record of a newer release, and by a Redis that cannot write records", async () => {
    await completed();
    const record = (await rig.space()).tasks.get(".a") ?? "";
    const refused = async (id: string, error: object) => {
      const before = await rig.keySpace();
      await expect(rig.operator().remove(id)).rejects.toMatchObject(error);
      expect(await rig.keySpace()).toEqual(before);
    };
    await refused("~set", { code: "invalid_argument", path: "id" });
    await rig.command("HSET", key("tasks"), ".a", "2;x\n");
    await refused("a", { code: "newer_schema" });
    await rig.command("HSET", key("tasks"), ".a", record);
    await rig.command("ACL", "SETUSER", "default", "-hset");
    await refused("a", { code: /redis/ });
  });
});
