import { beforeEach, expect, test } from "vitest";
import type { DeadLetter } from "../../src/index.ts";
import { letter } from "../support/dead-letters.ts";
import { secrets, useServed } from "./served.ts";

// What the HTTP interface reports of tasks that become dead letters.
let reported: [DeadLetter, typeof waitUntil | undefined][];
const waitUntil = (_: Promise<unknown>) => {};
const served = useServed({ onDeadLetter: (...all) => void reported.push(all) });
beforeEach(() => {
  reported = [];
});

async function post(path: string, json: object, context?: object) {
  const headers = { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(json) };
  const answer = await served.app.request(`/v1/queues/emails/tasks${path}`, init, {}, context as never);
  return answer.json() as Promise<never>;
}

/** Rejects a task with that id, once or several times. */
async function reject(
  id: string,
  error: object,
  { context, times = 1 }: { context?: object; times?: number } = {},
) {
  await post("", { payload: id, id, maxAttempts: 1 });
  const { tasks } = (await post("/pull", {})) as { tasks: [{ receipt: string }] };
  const settlements = [{ receipt: tasks[0].receipt, outcome: "reject", ...error }];
  for (let i = 0; i < times; i++) await post("/settle", { settlements }, context);
}

test("the hook gets a dead letter, and the platform's waitUntil if there is one", async () => {
  const error = { name: "E", message: "m" };
  await reject("a", { error });
  await reject("b", { error }, { context: { waitUntil } });
  expect(reported).toEqual([
    [letter("a", "rejected", { error }), undefined],
    [letter("b", "rejected", { error }), expect.any(Function)],
  ]);
});

test("a repeated settle calls it again, and an encrypted error shows nothing", async () => {
  await reject("c", { error: btoa("\0SLUICE and more"), encoding: "base64" }, { times: 2 });
  const expected = [letter("c", "rejected", { error: { message: "bytes, perhaps encrypted" } }), undefined];
  expect(reported).toEqual([expected, expected]);
});

test("it must be a function", () => {
  expect(() => served.make({ onDeadLetter: 1 as never })).toThrow("onDeadLetter must be a function");
});
