import { expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, path, tasks, enqueue, receipts, get, counts } = servedQueue();

const allowed = "must be a finite number, at most about 1.8e308 either way";

/** JSON texts with a number that JSON.parse reads as infinite, and its path in the value. */
const infinite: [text: string, at: string][] = [
  ["1e400", ""],
  ["-1e400", ""],
  ["1.8e308", ""],
  [`1${"0".repeat(309)}`, ""],
  [`-${"9".repeat(400)}.5`, ""],
  ["0.1E+0999", ""],
  ['{"a":[null,"null",{},1e400]}', ".a[3]"],
  ['[[],[[[{"b":{"":-1E999}}]]]]', "[1][0][0][0].b."],
  ['{"__proto__":{"toJSON":1e400}}', ".__proto__.toJSON"],
  [`{"${"k".repeat(80)}":1e400}`, `.${"k".repeat(80)}`],
];

/** Numbers that are kept as JavaScript reads them. */
const finite: [text: string, kept: string][] = [
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["-1e308", "-1e+308"],
  ["1e-400", "0"],
  ["-0", "0"],
  ["9007199254740993", "9007199254740992"],
  [`{"1e400":["1e400",null,1e5]}`, `{"1e400":["1e400",null,100000]}`],
];

const refused = async (method: string, to: string, raw: string, path: string) => {
  const { errors } = expectProblem(await ask(method, to, { raw }), "invalid_request");
  expect(errors).toEqual([{ path, message: allowed }]);
};

it.each(infinite)(
  "a number without bounds is refused as a payload, and nothing is enqueued: %s",
  async (text, at) => {
    await refused("POST", tasks(), `{"payload":${text}}`, `payload${at}`);
    await refused("POST", tasks(), `{"tasks":[{"payload":1},{"payload":${text}}]}`, `tasks[1].payload${at}`);
    expect(await counts()).toMatchObject({ pending: 0 });
  },
);

it("and as a schedule's payload, and in every settlement, of which none of the request is made", async () => {
  const schedule = `${path()}/schedules/s`;
  await refused("PUT", schedule, '{"payload":[1e400],"every":"1m"}', "payload[0]");
  expect((await ask("GET", schedule)).status).toBe(404);
  await enqueue({ tasks: ["a", "b"].map((id) => ({ id, payload: 1 })) });
  const [a, b] = await receipts({ max: 2 });
  const read = async () => [(await get("a")).body, (await get("b")).body];
  const before = await read();
  for (const [outcome, name] of Object.entries({
    complete: "result",
    reject: "error",
    requeue: "error",
    extend: "progress",
  })) {
    const raw = `{"settlements":[{"receipt":"${a}","outcome":"complete"},
      {"receipt":"${b}","outcome":"${outcome}","${name}":{"x":-1e400}}]}`;
    await refused("POST", `${tasks()}/settle`, raw, `settlements[1].${name}.x`);
  }
  expect(await read()).toEqual(before);
});

it("the reported path into a value is cut to a helpful length", async () => {
  const { body } = await ask("POST", tasks(), { raw: `{"payload":{"${"k".repeat(1_000)}":1e400}}` });
  expect(body.errors).toEqual([{ path: `payload.${"k".repeat(491)}…`, message: expect.any(String) }]);
});

it.each(finite)("a finite number is kept as JavaScript reads it: %s", async (text, kept) => {
  expect((await ask("POST", tasks(), { raw: `{"payload":${text}}` })).status).toBe(201);
  const { body } = await ask("POST", `${tasks()}/pull`);
  expect(JSON.stringify(body.tasks[0].payload)).toBe(kept);
});
