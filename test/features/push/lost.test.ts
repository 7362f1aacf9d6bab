import { expect, test } from "vitest";
import { push, type PushOptions } from "../../../src/features/push/index.ts";
import { useDeployments } from "../../deploy/deployments.ts";
import { useRig } from "../../support/rig.ts";

// The failure callback of a delivery whose last attempt could not add it.

const rig = useRig();
const { deployment, enqueue, letters, queue } = useDeployments(rig);

async function callbacks() {
  const tasks = await queue("results").dequeue({ max: 10 });
  return Object.fromEntries(tasks.map(({ id, payload }) => [id, payload]));
}

const pushing = (find: NonNullable<PushOptions["endpoints"]>["find"]) =>
  push({ endpoints: { find }, allowPrivate: ["127.0.0.1"], failureCallback: "results", queue: "emails" });

/** Leases a task on its only attempt. */
async function taken(id: string) {
  await enqueue(id, { group: "acme", headers: { tenant: "7" } });
  return (await queue().dequeue({ lease: 1 }))[0] as object;
}

const nowhere = pushing(() => undefined);
const of = { id: "a", group: "acme", headers: { tenant: "7" }, attempt: 1 };

test.each(["a sweep", "a dequeue"])("an attempt that is lost has it when %s finds it", async (by) => {
  await taken("a");
  rig.now += 1;
  const { cron, call, ended } = deployment({ consumers: { emails: nowhere } });
  await (by === "a sweep" ? cron() : call("/v1/queues/emails/tasks/pull", {}));
  await ended();
  const report = { ...of, error: "the attempt was lost with its process" };
  expect(await callbacks()).toEqual({ "a.failed.1": report });
});

test("an attempt that has added it, and is lost then, has it once", async () => {
  const task = Object.assign(await taken("a"), { signal: new AbortController().signal });
  await expect(nowhere(task as never, {}, { queue } as never)).rejects.toThrow("no endpoint");
  rig.now += 1;
  await deployment({ consumers: { emails: nowhere } }).cron();
  expect(letters).toMatchObject([{ id: "a", reason: "lease_expired" }]);
  expect(await callbacks()).toEqual({ "a.failed.1": { ...of, error: "the task has no endpoint" } });
});

test("an attempt that is stopped has it, and one that has added it costs no more", async () => {
  const slow = pushing(({ task: { id, signal } }) => {
    if (id === "gone") return undefined;
    return new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
    });
  });
  const asked: string[] = [];
  const onDeadLetter: typeof slow.onDeadLetter = (letter, tools) =>
    slow.onDeadLetter!(letter, {
      queue: (name: never) => {
        asked.push(letter.id);
        return tools.queue(name);
      },
    });
  const handler = Object.assign((...call: Parameters<typeof slow>) => slow(...call), { onDeadLetter });
  await enqueue("slow");
  await enqueue("gone");
  await deployment({ consumers: { emails: { handler, timeout: "1s" } } }).cron();
  expect(await callbacks()).toMatchObject({
    "slow.failed.1": { error: "the handler took longer than its timeout" },
    "gone.failed.1": { error: "the task has no endpoint" },
  });
  expect(new Set(asked)).toEqual(new Set(["slow"]));
});
