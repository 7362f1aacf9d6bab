import { expect, test } from "vitest";
import { encrypting, KEYS, shows, MARKER } from "../../support/encrypting.ts";
import { useRig } from "../../support/rig.ts";

const rig = useRig();
const both = { old: KEYS.old, new: KEYS.new };
const queues = {
  plain: () => rig.queue(),
  reading: () => rig.queue({ encryption: encrypting({ current: null, acceptPlain: true }) }),
  migrating: () => rig.queue({ encryption: encrypting({ acceptPlain: true }) }),
  old: () => rig.queue({ encryption: encrypting() }),
  ready: () => rig.queue({ encryption: encrypting({ keys: both }) }),
  turned: () => rig.queue({ encryption: encrypting({ keys: both, current: "new" }) }),
  new: () => rig.queue({ encryption: encrypting({ keys: { new: KEYS.new }, current: "new" }) }),
};
type Release = keyof typeof queues;

/** Sends a task from one release to another and its result back, and expects that both can be read. */
async function passes(from: Release, to: Release): Promise<void> {
  const { id } = await queues[from]().enqueue(`for ${to}`);
  const [task] = await queues[to]().dequeue();
  expect(task?.payload).toBe(`for ${to}`);
  await task?.complete(`from ${to}`);
  expect(await queues[from]().get(id)).toMatchObject({ result: `from ${to}` });
}

/** Expects that in each step both releases, side by side, read what either has written. */
async function inSteps(...steps: readonly (readonly [Release, Release])[]): Promise<void> {
  for (const releases of steps) {
    for (const from of releases) for (const to of releases) await passes(from, to);
  }
}

test("a key can be rotated while old and new releases run side by side, in every pair", () =>
  inSteps(["old", "ready"], ["ready", "turned"], ["turned", "new"]));

test("encryption can be introduced while releases with and without it run side by side, in every pair", async () => {
  await inSteps(["plain", "reading"], ["reading", "migrating"], ["migrating", "old"]);
  await queues.plain().enqueue(MARKER, { id: "before" });
  await queues.migrating().enqueue(MARKER, { id: "after" });
  for (const release of [queues.reading, queues.migrating]) {
    const tasks = await release().dequeue({ max: 2 });
    expect(tasks.map((task) => [task.id, task.payload])).toEqual([
      ["before", MARKER],
      ["after", MARKER],
    ]);
    for (const task of tasks.toReversed()) await task.requeue({ unstarted: true });
  }
});

test("a waiting task keeps its key, and can be decrypted as long as that key is given", async () => {
  await queues.old().enqueue(MARKER, { id: "a" });
  await queues.turned().enqueue(MARKER, { id: "b" });
  expect(shows(await rig.keySpace())).toBe(false);
  const [task] = await queues.turned().dequeue();
  await task?.requeue({ error: MARKER });
  expect(await queues.new().get("a")).toMatchObject({ error: MARKER });
  expect((await queues.new().dequeue({ max: 5 })).map(({ id }) => id)).toEqual(["b"]);
  const letter = await queues.new().get("a");
  expect(letter).toMatchObject({
    state: "rejected",
    error: { message: expect.stringContaining('"old"') as string },
  });
});
