import { describe, expect, test } from "vitest";
import { type Either, useServer } from "./rig.ts";

const server = useServer();

const allowed = "must be a finite number, at most about 1.8e308 either way";
const caught = (call: Promise<unknown>) => call.catch((error: unknown) => error);

const written = { toJSON: () => ({ is: [1 / 0] }) };
const odd = Object.assign([1, Number.NaN], { length: 2 });
let deep: unknown = [null, Infinity];
for (let i = 0; i < 100; i++) deep = [deep];

describe("a number that JSON does not have is refused everywhere, and changes nothing", () => {
  // `JSON.stringify` would silently write them as `null`.
  test.each<[name: string, value: unknown, at: string]>([
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
  ])("%s", async (_, value, at) => {
    const direct = server.direct("emails");
    await direct.enqueueMany(["a", "b"].map((id) => ({ id, payload: 1 })));
    const [task] = await direct.dequeue();
    const receipt = String(task?.receipt);
    const settled =
      (outcome: "complete" | "reject" | "requeue" | "extend", name: string) => (queue: Either) =>
        queue.settle([{ receipt, outcome, [name]: value }]);
    const calls: [where: string, call: (queue: Either) => Promise<unknown>][] = [
      ["payload", (queue) => queue.enqueue(value)],
      ["tasks[1].payload", (queue) => queue.enqueueMany([{ payload: 1 }, { payload: value }])],
      ["settlements[0].result", settled("complete", "result")],
      ["settlements[0].error", settled("reject", "error")],
      ["settlements[0].error", settled("requeue", "error")],
      ["settlements[0].progress", settled("extend", "progress")],
    ];
    const state = async () => [await direct.get("a"), { ...(await direct.counts()), oldestAge: 0 }];
    const before = await state();
    for (const queue of [direct, server.client().queue("emails")])
      for (const [where, call] of calls) {
        const path = where + at;
        const refused = { code: "invalid_argument", path, message: `${path} ${allowed}` };
        expect(await caught(call(queue))).toMatchObject(refused);
      }
    expect(await state()).toEqual(before);
  });
});

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
])(
  "a value without an end that %s makes anew each time is refused, with the begin of its path",
  async (_, a) => {
    const { direct, overHttp } = await server.both((queue) => caught(queue.enqueue({ a })));
    const path = expect.stringMatching(/^payload\.a(\.next)+.{0,4}…$/) as string;
    expect(direct).toMatchObject({ threw: "invalid_argument", path });
    expect(overHttp).toEqual(direct);
  },
);

test.each<[name: string, value: unknown]>([
  ["null", [null, { a: null }]],
  ["nothing", { a: undefined, b: [undefined, () => 0] }],
  ["a toJSON that hides a number", { ratio: { toJSON: () => null, of: Number.NaN } }],
  ["a shared part", ((part) => [part, part])([null])],
  ["an object that calls itself a number", [{ [Symbol.toStringTag]: "Number" }]],
  ["a name without a value", Object.defineProperty({ a: null }, "b", { value: Number.NaN })],
])("%s is not refused", async (_, payload) => {
  const { direct, overHttp } = await server.both(async (queue) => {
    await queue.enqueue(payload, { id: "a" });
    const [task] = await queue.dequeue();
    expect(JSON.stringify(task?.payload)).toBe(JSON.stringify(payload));
    return task;
  });
  expect(overHttp).toEqual(direct);
});
