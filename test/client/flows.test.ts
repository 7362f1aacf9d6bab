import { expect, test } from "vitest";
import { createFlowClient, type FlowItem, type NamedQueue } from "../../src/client/flows/index.ts";
import { defineQueue, Queue } from "../../src/index.ts";
import { linked } from "../../src/features/linked/index.ts";
import { encrypting } from "../support/encrypting.ts";
import { useServer } from "./rig.ts";

const server = useServer();
const flows = (as: "all" | "mails" = "all") => {
  const { url } = server.way();
  return createFlowClient({ url, token: `${as}-0123456789abcdef` });
};
const direct = (name: string, options: object = {}) =>
  new Queue(name, { transport: linked(server.transport()), ...options });

test("adds a flow, and sends it again with the same key when the answer is lost", async () => {
  server.way().faults = ["lost reply", "reset"];
  const added = await flows().flow(
    [
      { ref: "mail", queue: "b", payload: new Uint8Array([1, 2]), after: { ref: "rows", on: "ended" } },
      { ref: "rows", flow: [{ ref: "1", queue: "b", payload: 1, headers: { a: "b" } }], after: ["fetch"] },
      { ref: "fetch", queue: "a", payload: { n: 1 }, delay: "0s" },
    ],
    { id: "nightly" },
  );
  expect(added).toMatchObject({ id: "nightly@a", created: true, tasks: { fetch: "0{nightly@a}" } });
  const keys = server.way().copies.map(({ headers }) => headers.get("idempotency-key"));
  expect([keys.length, new Set(keys).size]).toEqual([3, 1]);
  const [fetched] = await direct("a").dequeue();
  expect(fetched?.payload).toEqual({ n: 1 });
  await fetched?.complete();
  const [row] = await direct("b").dequeue();
  expect(row).toMatchObject({ id: added.tasks["rows/1"], payload: 1, headers: { a: "b" } });
  await row?.reject();
  expect((await direct("b").dequeue())[0]?.payload).toEqual(new Uint8Array([1, 2]));
});

test("uses what a declared queue has: its defaults, its schema and its encryption", async () => {
  const encryption = encrypting();
  const secret = defineQueue<string>("secret", { encryption, maxAttempts: 3 });
  for (const options of [{}, { idempotencyKey: "k1" }]) {
    const { id, tasks } = await flows().flow(
      [
        { ref: "a", queue: secret, payload: "one" },
        { ref: "b", queue: secret, payload: "two", after: "a" },
      ],
      options,
    );
    expect(
      await flows().flow([{ ref: "a", queue: secret, payload: "one" }], { id: id.split("@")[0] }),
    ).toMatchObject({ created: false });
    const queue = direct("secret", { encryption });
    for (const [ref, payload] of [
      ["a", "one"],
      ["b", "two"],
    ] as const) {
      const [task] = await queue.dequeue();
      expect([task?.id, task?.payload]).toEqual([tasks[ref], payload]);
      expect(await queue.get(tasks[ref] as string)).toMatchObject({ options: { maxAttempts: 3 } });
      await task?.complete();
    }
  }
});

test("reports, redrives and cancels a flow, and reads what a task waited for", async () => {
  const client = flows();
  const { id, tasks } = await client.batch(
    [
      { queue: "a", payload: 1 },
      { queue: "a", payload: 2 },
    ],
    { completed: { queue: "b", payload: 3 }, ended: { queue: "b", payload: 4 }, id: "batch" },
  );
  expect([id, Object.keys(tasks)]).toEqual(["batch@a", ["1", "2", "completed", "ended"]]);
  const [first, second] = await direct("a").dequeue({ max: 2 });
  await first?.complete(new Uint8Array([1]));
  expect(await client.before("a", tasks["1"]!)).toEqual({});
  const more = [{ ref: "more", queue: "a", payload: 5 }];
  const added = await client.addBefore("a", second!, "batch", more);
  expect(added).toMatchObject({ ok: true, created: true });
  await second?.reject({ error: "no" });
  expect(await client.addBefore("a", second!, "batch", more)).toEqual({
    ok: false,
    code: "lease_lost",
  });
  await (await direct("a").dequeue())[0]?.complete();
  expect(await client.get(id)).toMatchObject({ state: "running", counts: { rejected: 2, pending: 1 } });
  expect(await client.redrive(id)).toEqual({ ok: true, redriven: 1 });
  expect(await client.cancel(id)).toMatchObject({ ok: true });
  expect(await client.get(id)).toMatchObject({ isCancelled: true });
  expect(await client.get("no@a")).toBeNull();
  for (const call of ["cancel", "redrive"] as const)
    expect(await client[call]("no@a")).toEqual({ ok: false, code: "not_found" });
  const chain = await client.flow([
    { ref: "x", queue: "c", payload: 1 },
    { ref: "y", queue: "c", payload: 1, after: { ref: "x", on: "ended" } },
  ]);
  await (await direct("c").dequeue())[0]?.complete(new Uint8Array([7]));
  expect(await client.before("c", chain.tasks["y"]!)).toEqual({
    x: { state: "completed", result: new Uint8Array([7]) },
  });
});

test("encrypts the tasks of a batch and those that a task adds, and decrypts what a task waited for", async () => {
  const secret = defineQueue<string>("secret", { encryption: encrypting() });
  const other = defineQueue<string>("other", { encryption: encrypting() });
  const [queue, others] = [direct("secret", secret.options), direct("other", other.options)];
  for (const options of [{}, { idempotencyKey: "batch-1" }, { id: "named" }]) {
    const { id, tasks } = await flows().batch([{ queue: secret, payload: "one" }], {
      failed: { queue: secret, payload: "failed" },
      ended: { queue: secret, payload: "ended" },
      ...options,
    });
    const [one] = await queue.dequeue();
    expect([one?.id, one?.payload]).toEqual([tasks["1"], "one"]);
    const items: FlowItem<NamedQueue>[] = [
      { ref: "in", flow: [{ ref: "a", queue: other, payload: "added" }] },
      { ref: "b", queue: "plain", payload: "plain" },
      { ref: "c", queue: other, payload: "refused" },
    ];
    const added = await flows().addBefore(secret, one!, "ended", items);
    const ids = added.ok ? added.tasks : {};
    expect(await flows().addBefore(secret, one!, "ended", items)).toEqual({ ...added, created: false });
    await one?.complete("result of one");
    const [a, c] = await others.dequeue({ max: 2 });
    expect([a?.id, a?.payload, c?.payload]).toEqual([ids["in/a"], "added", "refused"]);
    await a?.complete();
    await c?.reject("error of c");
    const [b] = await direct("plain").dequeue();
    await b?.complete("plain");
    const callbacks = await queue.dequeue({ max: 2 });
    expect(callbacks.map((task) => [task.id, task.payload])).toEqual([
      [tasks["failed"], "failed"],
      [tasks["ended"], "ended"],
    ]);
    const before = (queues: NamedQueue[]) => flows().before(secret, tasks["ended"]!, { queues });
    expect(await before([other, "plain"])).toEqual({
      "1": { state: "completed", result: "result of one" },
      "1/in": { state: "completed" },
      "1/b": { state: "completed", result: "plain" },
      "1/c": { state: "rejected", reason: "rejected", error: "error of c" },
    });
    await expect(before([])).rejects.toMatchObject({ code: "undecryptable" });
    for (const task of callbacks) await task.complete();
    expect(await flows().get(id)).toMatchObject({ state: "rejected" });
  }
});

test("refuses what is wrong, before a request or by the server, with its path", async () => {
  const refused = (items: unknown, options?: object) => flows("mails").flow(items as never, options);
  await expect(refused([{ ref: "a", queue: "q", payload: 1, after: "b" }])).rejects.toMatchObject({
    code: "invalid_argument",
    path: "tasks[0].after",
  });
  await expect(refused([{ ref: "a", queue: 7, payload: 1 }])).rejects.toMatchObject({ path: "queue" });
  await expect(refused([{ ref: "a", queue: "q", payload: undefined }])).rejects.toMatchObject({
    path: "tasks[0].payload",
  });
  await expect(refused([], { name: "a" })).rejects.toMatchObject({ path: "name" });
  expect(server.way().copies).toEqual([]);
  await expect(refused([{ ref: "a", queue: "mails-a", payload: 1, leese: 1 }])).rejects.toMatchObject({
    code: "invalid_argument",
    path: "tasks[0].leese",
  });
  await expect(refused([{ ref: "a", queue: "bills", payload: 1 }])).rejects.toMatchObject({
    code: "unauthorized",
  });
});
