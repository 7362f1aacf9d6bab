import { expect, test } from "vitest";
import type { Task } from "../../src/index.ts";
import { testTask } from "../../src/testing/index.ts";

async function handler({ payload, attempt, signal, extend }: Task<{ to: string }>) {
  await extend("1m", { progress: { percent: 50 } });
  if (signal.aborted) throw signal.reason;
  return `${payload.to} ${attempt}`;
}

test("a task calls a handler without a queue", async () => {
  const task = testTask({ to: "ada" }, { attempt: 3, id: "welcome", group: "tenant-7" });
  expect(task).toMatchObject({ id: "welcome", group: "tenant-7", headers: undefined });
  expect(await handler(task)).toBe("ada 3");
  expect(task.extensions).toEqual([{ lease: "1m", progress: { percent: 50 } }]);
});

test("unknown fields and reasons are refused", () => {
  expect(() => testTask(1, { attemp: 3 } as object)).toThrow(
    "attemp is an unknown option; expected one of id, attempt, enqueuedAt, headers, group",
  );
  expect(() => testTask(1).abort("nonsense" as "timeout")).toThrow(
    "reason must be one of cancelled, lease_lost, timeout, budget, aborted",
  );
});

test("its signal aborts as that of a drain does", async () => {
  const task = testTask({ to: "ada" });
  task.abort("timeout");
  await expect(handler(task)).rejects.toMatchObject({ name: "StoppedError", code: "timeout" });
});
