import { afterEach, expect, test } from "vitest";
import { key, useRig } from "../support/rig.ts";

const rig = useRig();
afterEach(async () => rig.command("ACL", "SETUSER", "default", "+@all"));

test("remove is refused for a record of a newer release, and by a Redis that cannot write records, and changes nothing (I3)", async () => {
  await rig.queue().enqueue("payload", { id: "a" });
  await (await rig.queue().dequeue())[0]?.complete();
  const record = (await rig.space()).tasks.get(".a") ?? "";
  const refused = async (error: object) => {
    const before = await rig.keySpace();
    await expect(rig.operator().remove("a")).rejects.toMatchObject(error);
    expect(await rig.keySpace()).toEqual(before);
  };
  await rig.command("HSET", key("tasks"), ".a", "2;x\n");
  await refused({ code: "newer_schema" });
  await rig.command("HSET", key("tasks"), ".a", record);
  await rig.command("ACL", "SETUSER", "default", "-hset");
  await refused({ code: /redis/ });
});
