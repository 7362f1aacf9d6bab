import { expect, test } from "vitest";
import { against } from "./rig.ts";

/** Answers one request after the other; the last answer is for all later ones. */
function inTurn(...answers: readonly (readonly [status: number, body: object])[]) {
  let requests = 0;
  return () => {
    const [status, body] = answers[Math.min(requests++, answers.length - 1)] ?? [500, {}];
    const type = status < 400 ? "application/json" : "application/problem+json";
    return Response.json(body, { status, headers: { "content-type": type } });
  };
}

const refused = { code: "redis_error", detail: "Redis refused a command." };

test("purge says how many tasks it deleted before a request fails", async () => {
  const replies = inTurn([200, { purged: 160, unreadable: 0, cursor: "x" }], [500, refused]);
  const { code, out, err } = await against(replies, ["purge", "emails", "--state", "completed", "--yes"]);
  expect([code, out]).toEqual([1, ""]);
  expect(err).toContain(
    "Done before this error: 160 completed tasks purged. The last request may have purged more.\n",
  );
  expect(err).toMatch(/\nsluice: Redis refused a command\n$/);
});

test("a redrive or purge goes on from where a request ended, to the limit, and says what it could not read", async () => {
  const bodies: unknown[] = [];
  const replies = inTurn(
    [200, { redriven: 3, unreadable: 1, cursor: "x" }],
    [200, { redriven: 2, unreadable: 0, cursor: "y" }],
    // Not asked for.
    [200, { redriven: 0, unreadable: 0, cursor: null }],
  );
  const noting = (_: string, { body }: RequestInit) => {
    bodies.push(JSON.parse(body as string));
    return replies();
  };
  const redrive = ["redrive", "emails", "--rejected", "--limit", "5", "--rate", "9"];
  const { code, rows, err } = await against(noting, redrive);
  expect([code, rows]).toEqual([1, [{ queue: "emails", redriven: 5 }]]);
  expect(err).toContain("1 dead letter cannot be read, and stay: run sluice doctor --repair.\n");
  expect(bodies).toMatchObject([
    { limit: 5, rate: 9, budget: 10_000 },
    { limit: 2, rate: 9, budget: 10_000, cursor: "x" },
  ]);
  expect(bodies).toHaveLength(2);
});

test("cancel prints what it has cancelled before a request fails", async () => {
  const replies = inTurn([200, { cancelled: true, state: "rejected" }], [500, refused]);
  const { code, out } = await against(replies, ["cancel", "emails", "a", "b"]);
  expect([code, out]).toEqual([1, '{"id":"a","ok":true,"result":"cancelled"}\n']);
});

/** What one round of a sweep did. */
const ROUND = { queues: 2, promoted: 1, reclaimed: 0, rejected: 0, expired: 0, scheduled: 0, woken: 0 };

test("sweep adds up its rounds, and keeps the failures of each", async () => {
  const failed = [
    { queue: "a", code: "redis_error" },
    { queue: "b", code: "redis_error" },
  ];
  const first = { checked: 9, removed: 2, error: "no answer" };
  const replies = () =>
    inTurn(
      [200, { ...ROUND, failed: failed.slice(0, 1), objects: first, more: true }],
      [200, { ...ROUND, failed: [], more: true }],
      [200, { ...ROUND, failed: failed.slice(1), objects: { checked: 3, removed: 1 }, more: false }],
    );
  const { code, rows } = await against(replies(), ["sweep"]);
  const objects = { checked: 12, removed: 3, error: "no answer" };
  expect([code, rows]).toEqual([1, [{ ...ROUND, promoted: 3, failed, objects }]]);
  const { text } = await against(replies(), ["sweep"], { terminal: true });
  expect(text).toContain(" 0 records expired, 3 objects removed.\n");
  expect(text).toContain("object store: no answer\n");
});

test.each([
  [0, { failed: [], objects: { checked: 3, removed: 1 } }],
  [1, { failed: [], objects: { checked: 3, removed: 1, error: "no answer" } }],
  [1, { failed: [{ queue: "a", code: "redis_error" }] }],
])("sweep ends with %i after %j", async (code, result) => {
  const reply = { ...ROUND, ...result };
  const ended = await against(inTurn([200, { ...reply, more: false }]), ["sweep"]);
  expect([ended.code, ended.rows]).toEqual([code, [reply]]);
});
