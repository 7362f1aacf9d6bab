import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { deepSweep, Operator, Queue, Schedules, sweep } from "../../src/index.ts";
import { offload } from "../../src/features/offload/index.ts";
import { memoryStore } from "../../src/testing/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { day, run, sharedDay } from "../support/day.ts";
import { key, QUEUE, useRig } from "../support/rig.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(root, file), "utf8");
const [, block = ""] = /runs it -->\n```\n([^`]*)```/.exec(read("SECURITY.md")) ?? [];
const words = block.trim().split(/\s+/);
const allowed = new Set(
  words.filter((word) => word.startsWith("+")).map((word) => word.slice(1).toUpperCase().split("|")[0]),
);

const rig = useRig();
beforeEach(() => rig.command(...words));

function asThatUser() {
  const transport = resp(`redis://sluice:PASSWORD@127.0.0.1:${rig.redis.port}`);
  onTestFinished(() => transport.close());
  return transport;
}

describe("the Redis user of SECURITY.md", () => {
  test("may run only the commands of the scripts and those that are sent beside them", async () => {
    const known = new Set(
      ((await rig.command("COMMAND", "LIST")) as string[]).map((name) => name.toUpperCase()),
    );
    const named = (folder: string, pattern: RegExp) =>
      globSync(folder, { cwd: root })
        .filter((file) => !file.endsWith(".gen.ts"))
        .flatMap((file) => Array.from(read(file).matchAll(pattern), ([, word = ""]) => word));
    const inScripts = named("lua/*/*.lua", /'([A-Z]{3,})'/g).filter((word) => known.has(word));
    const beside = named(
      "src/{kernel,features,operate,open,sweep,drain,http}/**/*.ts",
      /\["([A-Z]{3,})"/g,
    ).filter((word) => known.has(word));
    expect(beside).toContain("UNLINK");
    const ofTransport = ["EVAL", "EVALSHA", "PING", "SUBSCRIBE"];
    expect(allowed).toEqual(new Set([...inScripts, ...beside, ...ofTransport]));
  });

  test.each([
    ["a queue's day", day],
    ["a day of groups, limits, workers", sharedDay],
  ])("runs %s like any other user", async (_, scenario) => {
    expect(await run(rig, scenario, asThatUser())).toEqual(await run(rig, scenario));
  });

  test("operates, follows and repairs queues", async () => {
    const transport = asThatUser();
    const queue = new Queue(QUEUE, { transport });
    const operator = new Operator(QUEUE, { transport });
    await operator.configure({ events: true, statistics: true });
    const events = await queue.events();
    await queue.enqueueMany([
      { id: "a", payload: 1 },
      { id: "b", payload: 2, group: "g" },
    ]);
    const { value: reported } = await events[Symbol.asyncIterator]().next();
    expect(reported).toMatchObject({ event: "enqueued", ids: ["a", "b"] });
    await new Schedules(QUEUE, { transport }).put("s", { every: "1h", payload: 1 });
    for (const task of await queue.dequeue({ max: 2, worker: { name: "w" } })) await task.reject("no");
    expect(await operator.redrive({ reason: "rejected" })).toMatchObject({ redriven: 2 });
    expect((await operator.purge({ state: "pending", group: "g" })).purged).toBe(1);
    expect(await sweep(transport)).toMatchObject({ queues: 1, failed: [] });
    expect(await deepSweep(transport)).toMatchObject({ faults: [], failed: [] });
    await operator.deleteQueue({ force: true });
    expect(await rig.command("EXISTS", key("tasks"), key("pending"), "sluice:queues")).toBe(0);
  });

  test("keeps large payloads in an object store", async () => {
    const transport = asThatUser();
    const large = offload({ store: memoryStore(), over: 0 });
    const queue = new Queue(QUEUE, { transport, offload: large });
    await queue.enqueue("large", { id: "a" });
    expect(await queue.get("a", { payload: true })).toMatchObject({ payload: "large" });
    expect(await sweep(transport, { offload: large })).toMatchObject({ objects: { checked: 1, removed: 0 } });
  });

  test("has neither other keys, nor other commands, also in scripts", async () => {
    await rig.command("SET", "other", "secret");
    const transport = asThatUser();
    const script = (source: string, name: string) => ["EVAL", source, "1", name] as const;
    const outcomes = await transport.send([
      ["GET", "other"],
      ["KEYS", "*"],
      ["CONFIG", "GET", "*"],
      script("return redis.call('GET', KEYS[1])", "other"),
      script("return redis.call('FLUSHALL')", "sluice:{q}:tasks"),
    ]);
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({ error: { code: "redis_unauthorized" } });
    }
    expect(await rig.keySpace()).toEqual({ other: { string: "secret" } });
  });
});
