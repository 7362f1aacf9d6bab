import { expect, test } from "vitest";
import { type DeadLetterCounts, sumOfDeadLetters } from "../../src/index.ts";
import { bury } from "../support/dead-letters.ts";
import { encrypting } from "../support/encrypting.ts";
import { useRig } from "../support/rig.ts";

const rig = useRig();
const counts = (options = {}) => rig.operator().deadLetters(options);
const causesOf = ({ causes }: DeadLetterCounts) => causes.map(({ error, count }) => [error, count]);

test("dead letters are counted by cause and by group, the most frequent first", async () => {
  const queue = rig.queue();
  await bury(queue, [
    { id: "a", payload: "no task 12345678 of order 0f3a8c1d2e4b", group: "x" },
    { id: "b", payload: { name: "Error", message: 'HTTP "503"' }, group: "x" },
  ]);
  rig.now += 10;
  await bury(queue, [{ id: "c", payload: "no task 987654 of order aa11bb22cc33", group: "y" }]);
  rig.now += 10;
  await queue.enqueue("c", { id: "d" });
  for (const task of await queue.dequeue()) await task.reject();
  const cause = { reason: "attempts_exhausted", count: 1 };
  expect(await counts()).toEqual({
    counted: 4,
    causes: [
      {
        ...cause,
        error: "no task … of order …",
        text: "of order",
        count: 2,
        firstAt: rig.now - 20,
        lastAt: rig.now - 10,
        latest: { id: "c", lease: 3 },
      },
      {
        reason: "rejected",
        error: "its consumer rejected it for good",
        text: "its consumer rejected it for good",
        count: 1,
        firstAt: rig.now,
        lastAt: rig.now,
        latest: { id: "d", lease: 4 },
      },
      {
        ...cause,
        error: 'Error: HTTP "503"',
        text: 'HTTP "503"',
        firstAt: rig.now - 20,
        lastAt: rig.now - 20,
        latest: { id: "b", lease: 2 },
      },
    ],
    groups: [
      { group: "x", count: 2, firstAt: rig.now - 20, lastAt: rig.now - 20 },
      { group: null, count: 1, firstAt: rig.now, lastAt: rig.now },
      { group: "y", count: 1, firstAt: rig.now - 10, lastAt: rig.now - 10 },
    ],
    otherCauses: 0,
    otherGroups: 0,
    cursor: null,
    unreadable: 0,
  });
});

test("errors that differ only in numbers are one cause, except status codes (4xx, 5xx, and what a code names)", async () => {
  const errors: readonly (readonly [error: string, text: string | null, ...given: unknown[]])[] = [
    [
      "accounting is down, order …",
      "accounting is down, order",
      "accounting is down, order 17",
      "accounting is down, order 1,018",
    ],
    ["user_… gone after …", "gone after", "user_7 gone after 30s", "user_12 gone after 1.5s"],
    ["connect to …", "connect to", "connect to 10.0.0.1:6379", "connect to 10.0.0.12:6379"],
    ["HTTP 503 for …", "HTTP 503 for", "HTTP 503 for 17", "HTTP 503 for 3"],
    ["HTTP 404 for …", "HTTP 404 for", "HTTP 404 for 17"],
    ["HTTP/1.1 502", "HTTP/1.1 502", "HTTP/1.1 502"],
    ["status code 429, try …", "status code 429, try", "status code 429, try 2"],
    ["exit code 1", "exit code 1", "exit code 1"],
    ['{"statusCode":500}', null, { statusCode: 500 }],
    ["503 Service Unavailable", "503 Service Unavailable", "503 Service Unavailable"],
    ["Error: 504 for …", "504 for", { name: "Error", message: "504 for 4" }],
    ["S3 has no v2 in utf8", "S3 has no v2 in utf8", "S3 has no v2 in utf8"],
  ];
  const given = errors.flatMap(([, , ...all]) => all);
  await bury(
    rig.queue(),
    given.map((payload, i) => ({ id: `t${i}`, payload })),
  );
  const { causes } = await counts();
  const found = causes.map(({ error, text, count }) => [error, text, count]);
  expect(found).toHaveLength(errors.length);
  expect(found).toEqual(
    expect.arrayContaining(errors.map(([error, text, ...all]) => [error, text, all.length])),
  );
});

test("reason and text of a cause find its dead letters", async () => {
  const errors = [
    'say "no" 123456 times',
    { code: 7 },
    { name: "E", message: "at C:\\dir\\4711000 “x”" },
    503,
  ];
  await bury(
    rig.queue(),
    errors.map((payload, i) => ({ id: `t${i}`, payload })),
  );
  const { causes } = await counts();
  expect(causes.map(({ text }) => text)).toHaveLength(4);
  for (const { reason, text, latest } of causes) {
    const { tasks } = await rig.operator().list({ state: "rejected", reason, text: text ?? undefined });
    expect(tasks.map(({ id }) => id)).toContain(latest.id);
    if (text !== null) expect(tasks).toHaveLength(1);
  }
});

test("a filter, also by reason, limits what is counted", async () => {
  await bury(rig.queue(), [
    { id: "a", payload: "503", group: "g" },
    { id: "b", payload: "404" },
  ]);
  expect(causesOf(await counts({ text: "503" }))).toEqual([["503", 1]]);
  expect(causesOf(await counts({ reason: "rejected" }))).toEqual([]);
  expect((await counts({ group: "g" })).groups).toMatchObject([{ group: "g", count: 1 }]);
  await expect(counts({ size: 5 })).rejects.toThrow("size is an unknown option");
});

test("encrypted errors are one cause without the key, and as they are with it", async () => {
  const sealed = { encryption: encrypting() };
  await bury(rig.queue(sealed), [
    { id: "a", payload: "secret a" },
    { id: "b", payload: "secret b" },
  ]);
  expect((await rig.operator({ encryption: null }).deadLetters()).causes).toMatchObject([
    { error: "encrypted", text: null, count: 2 },
  ]);
  expect(causesOf(await rig.operator(sealed).deadLetters())).toEqual([
    ["secret b", 1],
    ["secret a", 1],
  ]);
});

test("more than 5,000 are counted call by call, and more than 100 causes as others", async () => {
  const word = (i: number) => String.fromCharCode(97 + Math.floor(i / 26), 97 + (i % 26));
  await bury(
    rig.queue(),
    Array.from({ length: 5_120 }, (_, i) => ({ payload: i < 5_000 ? "same" : word(i - 5_000) })),
  );
  const first = await counts();
  expect(first).toMatchObject({ counted: 5_000, unreadable: 0 });
  const rest = await counts({ cursor: first.cursor ?? "" });
  expect(rest).toMatchObject({ counted: 120, cursor: null });
  const sum = sumOfDeadLetters(first, rest);
  expect(sum).toMatchObject({ counted: 5_120, otherCauses: 21, otherGroups: 0, cursor: null });
  expect(sum.causes).toHaveLength(100);
  expect(causesOf(sum)[0]).toEqual(["same", 5_000]);
  expect(sum.groups).toMatchObject([{ group: null, count: 5_120 }]);
});
