import { expect, test } from "vitest";
import { createClient } from "../../src/client/index.ts";
import { withDebounce } from "../../src/features/debounce/index.ts";
import { slotOf } from "../../src/kernel/names/slots.ts";
import { defineQueue } from "../../src/index.ts";
import { secrets, useServed } from "../http/served.ts";
import { encrypting } from "../support/encrypting.ts";

// A client does not know the partitions of a queue, but its ids say where a task with a group or a dedup key goes.

const served = useServed({
  definitionOf: (name) =>
    defineQueue(name, { partitions: 4, ...(/ledger/.test(name) && { order: "strict" }) }),
});

const client = () =>
  createClient({
    url: "http://sluice.test",
    token: secrets.all,
    fetch: (url, init) => Promise.resolve(served.app.fetch(new Request(url, init))),
  });

test.each([
  ["plain-ledger", null],
  ["encrypted-ledger", encrypting()],
])("keeps the order of a group over several partitions: %s", async (name, of) => {
  const queue = client().queue(name, { encryption: of });
  const ids: string[] = [];
  await served.ask("PATCH", `/v1/queues/${queue.name}/settings`, { json: { order: "strict" } });
  for (let i = 0; i < 6; i++) ids.push((await queue.enqueue(i, { group: "account-7" })).id);
  const [many] = await queue.enqueueMany([{ payload: 6, group: "account-7" }]);
  const keyed = await queue.enqueue(7, { group: "account-7", idempotencyKey: "k1" });
  for (const id of [...ids, many?.id, keyed.id]) {
    const [task] = await queue.dequeue({ max: 10, wait: "2s" });
    expect(task?.id).toBe(id);
    expect(await queue.get(id as string)).toMatchObject({ state: "working" });
    await task?.complete();
  }
  expect(new Set(ids.map(slotOf))).toEqual(new Set([slotOf("account-7")]));
});

test("finds a dedup key over several partitions", async () => {
  const queue = client().queue("reports");
  const options = { dedup: { key: "report-7", window: "1h" }, group: "tenant-7" } as const;
  const { id } = await queue.enqueue(1, options);
  expect(await queue.enqueue(2, options)).toEqual({ id, created: false });
});

test("leaves it to the server where the key of a debounce is", async () => {
  const queue = withDebounce(client().queue("reports"));
  const options = { debounce: { key: "page-7", wait: "1h" }, group: "tenant-7" } as const;
  const { id } = await queue.enqueue(1, options);
  expect(await queue.enqueue(2, options)).toMatchObject({ id, outcome: "replaced" });
});
