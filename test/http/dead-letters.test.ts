import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { DeadLetter } from "../../src/index.ts";
import { createApp } from "../../src/http/app.ts";
import { letter } from "../support/dead-letters.ts";
import { secrets, serve } from "./served.ts";

// What the HTTP interface reports of tasks that become dead letters.
let served: Awaited<ReturnType<typeof serve>>;
let reported: [DeadLetter, typeof waitUntil | undefined][];
const waitUntil = (_: Promise<unknown>) => {};
beforeAll(async () => {
  served = await serve({ onDeadLetter: (...all) => void reported.push(all) });
});
afterAll(() => served.stop());
beforeEach(() => {
  reported = [];
});

async function post(path: string, json: object, context?: object) {
  const headers = { authorization: `Bearer ${secrets.all}`, "content-type": "application/json" };
  const init = { method: "POST", headers, body: JSON.stringify(json) };
  return (await served.app.request(`/v1${path}`, init, {}, context as never)).json() as Promise<never>;
}

async function receiptOf(id: string): Promise<string> {
  await post("/queues/emails/tasks", { payload: id, id, maxAttempts: 1 });
  const { tasks } = (await post("/queues/emails/tasks/pull", {})) as { tasks: [{ receipt: string }] };
  return tasks[0].receipt;
}

test("the hook gets a dead letter, and the platform's waitUntil if there is one", async () => {
  const settle = async (id: string, context?: object) => {
    const settlement = {
      receipt: await receiptOf(id),
      outcome: "reject",
      error: { name: "E", message: "m" },
    };
    await post("/queues/emails/tasks/settle", { settlements: [settlement] }, context);
  };
  await settle("a");
  await settle("b", { waitUntil });
  const error = { name: "E", message: "m" };
  expect(reported).toEqual([
    [letter("a", "rejected", { error }), undefined],
    [letter("b", "rejected", { error }), expect.any(Function)],
  ]);
});

test("a repeated settle calls it again, and an encrypted error shows nothing", async () => {
  const error = Buffer.from("\0SLUICE and more").toString("base64");
  const settlement = { receipt: await receiptOf("c"), outcome: "reject", error, encoding: "base64" };
  for (let i = 0; i < 2; i++) await post("/queues/emails/tasks/settle", { settlements: [settlement] });
  const message = "bytes, perhaps encrypted";
  const expected = [letter("c", "rejected", { error: { message } }), undefined];
  expect(reported).toEqual([expected, expected]);
});

test("it must be a function", () => {
  const { transport } = served;
  expect(() => createApp({ transport, tokens: [], onDeadLetter: 1 as never })).toThrow(
    "onDeadLetter must be a function",
  );
});
