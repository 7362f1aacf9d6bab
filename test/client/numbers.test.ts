import { describe, expect, test } from "vitest";
import { drain } from "../../src/index.ts";
import { type Either, useServer } from "./rig.ts";

const server = useServer();

const allowed = "must be a finite number, at most about 1.8e308 either way";

const written = { toJSON: () => ({ is: [1 / 0] }) };
const odd = Object.assign([1, Number.NaN], { length: 2 });
let deep: unknown = [null, Infinity];
for (let i = 0; i < 100; i++) deep = [deep];

/** Values that `JSON.stringify` would silently write as `null`. */
const lost: [name: string, value: unknown, at: string][] = [
  ["NaN", Number.NaN, ""],
  ["Infinity", Infinity, ""],
  ["minus Infinity", -Infinity, ""],
  ["one in a list", [null, "null", Infinity], "[2]"],
  ["one in an object", { a: [1, { b: Number.NaN }] }, ".a[1].b"],
  ["the first of several", { a: 1, b: [NaN], c: NaN }, ".b[0]"],
  ["one that toJSON gives", { ratio: written }, ".ratio.is[0]"],
  ["one that a function's toJSON gives", [Object.assign(() => 0, { toJSON: () => Number.NaN })], "[0]"],
  ["one in a box", [Object(Number.NaN)], "[0]"],
  ["one in a list with names", odd, "[1]"],
  ["one at a depth", deep, `${"[0]".repeat(100)}[1]`],
];

/** Values that are written as usual. */
const kept: [name: string, value: unknown][] = [
  ["null", [null, { a: null }]],
  ["nothing", { a: undefined, b: [undefined, () => 0] }],
  ["a toJSON that hides a number", { ratio: { toJSON: () => null, of: Number.NaN } }],
  ["a shared part", ((part) => [part, part])([null])],
  ["an object that calls itself a number", [{ [Symbol.toStringTag]: "Number" }]],
  ["a name without a value", Object.defineProperty({ a: null }, "b", { value: Number.NaN })],
];

async function leased(queue: Either) {
  await queue.enqueueMany(["a", "b"].map((id) => ({ id, payload: 1 })));
  const [task] = await queue.dequeue({ max: 2 });
  return String(task?.receipt);
}

describe.each(lost)("a number that JSON does not have, %s,", (_, value, at) => {
  test.each<[where: string, call: (queue: Either, receipt: string) => Promise<unknown>]>([
    ["payload", (queue) => queue.enqueue(value)],
    ["tasks[1].payload", (queue) => queue.enqueueMany([{ payload: 1 }, { payload: value }])],
    ...(
      [
        ["complete", "result"],
        ["reject", "error"],
        ["requeue", "error"],
        ["extend", "progress"],
      ] as const
    ).map(([outcome, name]): [string, (queue: Either, receipt: string) => Promise<unknown>] => [
      `settlements[0].${name}`,
      (queue, receipt) => queue.settle([{ receipt, outcome, [name]: value }]),
    ]),
  ])("is refused as %s, and changes nothing", async (where, call) => {
    for (const queue of [server.direct("emails"), server.client().queue("emails")]) {
      const receipt = await leased(queue);
      const before = [await queue.get("a"), await queue.counts()];
      await expect(call(queue, receipt)).rejects.toMatchObject({
        code: "invalid_argument",
        path: where + at,
        message: `${where}${at} ${allowed}`,
      });
      expect([await queue.get("a"), { ...(await queue.counts()), oldestAge: 0 }]).toEqual([
        before[0],
        { ...(before[1] as object), oldestAge: 0 },
      ]);
      await server.redis("FLUSHALL");
    }
  });
});

describe("a value without an end", () => {
  class Endless {
    toJSON() {
      return { next: new Endless() };
    }
  }
  const endless = () => ({
    get next() {
      return endless();
    },
  });

  test.each<[string, object]>([
    ["toJSON", new Endless()],
    ["a property", endless()],
  ])("that %s makes anew each time is refused, with the begin of its path", async (_, payload) => {
    const { direct, overHttp } = await server.both((queue) =>
      queue.enqueue({ a: payload }).catch((error: unknown) => error),
    );
    expect(direct).toMatchObject({
      threw: "invalid_argument",
      path: expect.stringMatching(/^payload\.a(\.next)+.{0,4}…$/),
    });
    expect(overHttp).toEqual(direct);
  });
});

test.each(kept)("%s is not refused", async (_, payload) => {
  const { direct, overHttp } = await server.both(async (queue) => {
    await queue.enqueue(payload, { id: "a" });
    const [task] = await queue.dequeue();
    expect(JSON.stringify(task?.payload)).toBe(JSON.stringify(payload));
    return task;
  });
  expect(overHttp).toEqual(direct);
});

test.each(["lease", "delay", "maxAttempts", "priority", "at"])(
  "an invalid option has its own message: %s",
  async (name) => {
    const { direct, overHttp } = await server.both(async (queue) =>
      queue.enqueue(1, { [name]: Infinity }).catch((error: unknown) => error),
    );
    expect(direct).toEqual({ threw: "invalid_argument", path: name });
    expect(overHttp).toEqual(direct);
  },
);

test("a drain makes a dead letter of a task whose result has such a number, and says where", async () => {
  const queue = server.direct("emails");
  await queue.enqueue(1, { id: "a" });
  await drain(queue, () => ({ mean: 0 / 0 }));
  expect(await queue.get("a")).toMatchObject({
    state: "rejected",
    error: { message: `the work is done, but its result cannot be stored: result.mean ${allowed}` },
  });
});
