import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type NewTask, Operator, Queue } from "../../src/index.ts";
import { offload } from "../../src/features/offload/index.ts";
import { memoryStore } from "../../src/testing/index.ts";
import { resp } from "../../src/transports/resp.ts";
import { encrypting, MARKER, shows } from "../support/encrypting.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";
import { useFolder } from "../support/folder.ts";
import { useCli } from "./rig.ts";
import { runHere } from "./run-here.ts";

const rig = useCli();
const { sluice } = rig;
const folder = useFolder();

let other: TestRedis;
let transport: ReturnType<typeof resp>;
beforeAll(async () => {
  other = await startRedis();
  transport = resp(other.url);
});
beforeEach(() => transport.send([["FLUSHALL"]]));
afterAll(async () => {
  await transport.close();
  await other.stop();
});

const PAYLOADS: Readonly<Record<string, unknown>> = {
  bytes: Uint8Array.from({ length: 256 }, (_, i) => i),
  noBytes: new Uint8Array(),
  unicode: "Grüße 漢字 👩‍👩‍👧\u2028\u0000\u001b[31m\ud800",
  null: null,
  text: "",
  zero: 0,
  fraction: 1e-7,
  false: false,
  list: [],
  object: { __proto__x: 1, encoding: "base64", payload: { state: "pending" } },
  large: "x".repeat(900_000),
};

/** Imports into the other database. */
const importing = (stdin: string, ...args: string[]) =>
  runHere(["import", "emails", ...args], { REDIS_URL: other.url }, { stdin });
const moved = () => new Queue("emails", { transport });

test("export and import move payloads of every kind, with all options, in the order of delivery", async () => {
  const dueAt = Date.now() + 3_600_000;
  const tasks: NewTask<unknown>[] = [
    ...Object.entries(PAYLOADS).map(([id, payload]) => ({ id, payload })),
    { id: "a1", payload: 1, group: "a" },
    { id: "a2", payload: 2, group: "a" },
    { id: "odd", payload: 3, group: "x;%2F/y", headers: { "ü;%": "\n漢" } },
    { id: "b1", payload: 4, group: "b", priority: 3 },
    { id: "plain", payload: 5, lease: "1m", maxAttempts: 7, resultTtl: "2h", deadTtl: "3d", unique: "1d" },
    { id: "nine", payload: 6, priority: 9, maxAttempts: 0 },
    { id: "id/..%2F;&?#", payload: 7 },
    { id: "later", payload: 8, at: dueAt, group: "a" },
  ];
  await rig.queue().enqueueMany(tasks);
  const { out, err } = await sluice("export", "emails");
  expect(err).toBe(`Exported ${tasks.length} tasks of emails.\n`);
  expect((await importing(out)).rows).toEqual([
    { queue: "emails", enqueued: tasks.length, known: 0, skipped: 0 },
  ]);
  const kept = async (operator: Operator) => {
    const pages = (["pending", "delayed"] as const).map((state) => operator.list({ state, payloads: true }));
    return (await Promise.all(pages)).flatMap((page) =>
      page.tasks.map(({ id, payload, group, priority, headers, options, dueAt: due }) => {
        return { id, payload, group, priority, headers, options, due };
      }),
    );
  };
  const before = await kept(rig.operator());
  expect(await kept(new Operator("emails", { transport }))).toEqual(before);
  expect(before).toHaveLength(tasks.length);
  const order = async (queue: Queue) => (await queue.dequeue({ max: 100 })).map(({ id }) => id);
  expect(await order(moved())).toEqual(await order(rig.queue()));
});

test("export and import move encrypted payloads as they are", async () => {
  const keys = encrypting();
  await rig.queue("emails", { encryption: keys }).enqueue({ secret: MARKER }, { id: "one" });
  const { out } = await sluice("export", "emails");
  expect(shows(out)).toBe(false);
  expect(await importing(out)).toMatchObject({ code: 0 });
  const [task] = await new Queue("emails", { transport, encryption: keys }).dequeue();
  expect(task?.payload).toEqual({ secret: MARKER });
});

test("export --state rejected takes dead letters, which import makes pending; export filters", async () => {
  await rig.die("a", "HTTP 503", { payload: { n: 1 } });
  await rig.die("b", "HTTP 404", { payload: { n: 2 } });
  await rig.queue().enqueue(3, { id: "pending" });
  const { out, rows } = await sluice("export", "emails", "--state", "rejected,pending", "--text", "503");
  expect(rows.map(({ id, state }) => [id, state])).toEqual([["a", "rejected"]]);
  expect(await importing(out)).toMatchObject({ code: 0 });
  expect(await moved().get("a", { payload: true })).toMatchObject({
    state: "pending",
    attempt: 0,
    payload: { n: 1 },
    options: { maxAttempts: 1 },
  });
});

test("export leaves out tasks whose payloads are not kept, and says how many", async () => {
  await rig.queue().enqueueMany([
    { payload: 1, id: "a" },
    { payload: 2, id: "b" },
    { payload: 3, id: "c" },
  ]);
  for (const task of await rig.queue().dequeue({ max: 2 })) await task.complete();
  const { code, rows, err } = await sluice("export", "emails", "--state", "completed,pending");
  expect([code, rows]).toMatchObject([0, [{ id: "c", payload: 3 }]]);
  expect(err).toBe("Exported 1 task of emails. 2 tasks left out: their payloads are not kept.\n");
});

test("export fails at a payload in an object store that it cannot read, so that no purge loses the task", async () => {
  const large = offload({ store: memoryStore(), over: 10 });
  await rig.queue("emails", { offload: large }).enqueue("a large payload", { id: "a" });
  const { code, text, err } = await sluice("export", "emails");
  expect(code).not.toBe(0);
  expect(text).toBe("");
  expect(err).toContain("or read from it, or the server has none");
});

test("import leaves tasks whose ids are known, and goes on with --resume", async () => {
  await rig.queue().enqueueMany(Array.from({ length: 3 }, (_, n) => ({ payload: n, id: `t${n}` })));
  const { out } = await sluice("export", "emails");
  await moved().enqueue("mine", { id: "t0" });
  expect((await importing(out)).rows).toEqual([{ queue: "emails", enqueued: 2, known: 1, skipped: 0 }]);
  const file = join(folder.path, "tasks.jsonl");
  await writeFile(file, out);
  const resuming = ["import", "copy", "--file", file, "--resume", join(folder.path, "progress")];
  for (const counts of [
    { enqueued: 3, skipped: 0 },
    { enqueued: 0, skipped: 3 },
  ])
    expect((await runHere(resuming, { REDIS_URL: other.url })).rows).toMatchObject([counts]);
});
