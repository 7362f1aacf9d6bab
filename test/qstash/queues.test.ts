// The queues of QStash, with its own client.
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

const rig = useQStash();

test("a queue is created, changed, listed and deleted", async () => {
  const reports = rig.client.queue({ queueName: "reports" });
  await reports.upsert({ parallelism: 3 });
  const created = await reports.get();
  expect(created).toEqual({
    name: "reports",
    createdAt: expect.any(Number),
    updatedAt: expect.any(Number),
    parallelism: 3,
    paused: false,
    lag: 0,
  });
  await reports.upsert({ parallelism: 1, paused: true });
  expect(await reports.get()).toMatchObject({
    parallelism: 1,
    paused: true,
    createdAt: created.createdAt,
  });
  await rig.client.queue({ queueName: "bills" }).upsert({});
  expect((await reports.list()).map(({ name, paused }) => [name, paused])).toEqual([
    ["bills", false],
    ["reports", true],
  ]);
  for (const queueName of ["reports", "bills"]) await rig.client.queue({ queueName }).delete();
  await expect(reports.get()).rejects.toMatchObject({ status: 404 });
  await expect(reports.pause()).rejects.toMatchObject({ status: 404 });
  await expect(rig.client.queue({ queueName: "a/b" }).upsert({})).rejects.toMatchObject({ status: 400 });
});
