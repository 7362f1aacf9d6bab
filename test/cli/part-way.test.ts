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

test("cancel prints what it has cancelled before a request fails", async () => {
  const replies = inTurn([200, { cancelled: true, state: "rejected" }], [500, refused]);
  const { code, out } = await against(replies, ["cancel", "emails", "a", "b"]);
  expect([code, out]).toEqual([1, '{"id":"a","ok":true,"result":"cancelled"}\n']);
});

test("sweep counts the objects of each of its rounds, and fails if the store could not be checked", async () => {
  const none = { queues: 1, promoted: 0, reclaimed: 0, rejected: 0, expired: 0, scheduled: 0, woken: 0 };
  const round = (objects: object, more: boolean) => [200, { ...none, failed: [], objects, more }] as const;
  const replies = () =>
    inTurn(
      round({ checked: 1000, removed: 2, error: "no answer" }, true),
      round({ checked: 30, removed: 1 }, false),
    );
  const { code, rows } = await against(replies(), ["sweep"]);
  expect([code, rows]).toEqual([
    1,
    [{ ...none, failed: [], objects: { checked: 1030, removed: 3, error: "no answer" } }],
  ]);

  const { text } = await against(replies(), ["sweep"], { terminal: true });
  expect(text).toMatch(/ 0 records expired, 3 objects removed\.\nobject store: no answer\n$/);

  const checked = await against(inTurn(round({ checked: 30, removed: 1 }, false)), ["sweep"]);
  expect([checked.code, checked.rows]).toEqual([
    0,
    [{ ...none, failed: [], objects: { checked: 30, removed: 1 } }],
  ]);
});

test("sweep keeps the failures of each of its rounds", async () => {
  const round = { queues: 2, promoted: 1, reclaimed: 0, rejected: 0, expired: 0, scheduled: 0, woken: 0 };
  const replies = inTurn(
    [200, { ...round, failed: [{ queue: "a", code: "redis_error" }], more: true }],
    [200, { ...round, failed: [], more: true }],
    [200, { ...round, failed: [{ queue: "b", code: "redis_error" }], more: false }],
  );
  const { code, rows } = await against(replies, ["sweep"]);
  expect([code, rows]).toEqual([
    1,
    [
      {
        ...round,
        promoted: 3,
        failed: [
          { queue: "a", code: "redis_error" },
          { queue: "b", code: "redis_error" },
        ],
      },
    ],
  ]);
});
