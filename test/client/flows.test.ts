import { expect, test } from "vitest";
import { createFlowClient } from "../../src/client/flows/index.ts";
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
