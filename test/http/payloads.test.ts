import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { serve } from "./served.ts";

let served: Awaited<ReturnType<typeof serve>>;

beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.stop());

const nested = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** JSON texts; each has to come back as the same text. */
const awkward: Record<string, string> = {
  zero: "0",
  "minus zero point five": "-0.5",
  "empty text": '""',
  "a number as text": '"42"',
  "null as text": '"null"',
  "007 as text": '"007"',
  null: "null",
  false: "false",
  "empty array": "[]",
  "empty object": "{}",
  "array of null": "[null]",
  emoji: '"👩‍👩‍👧‍👦 🇨🇭"',
  NUL: String.raw`"a\u0000b"`,
  "control characters": String.raw`"\u0001\b\t\n\u001f"`,
  "quotes and backslashes": String.raw`"\"\\/\\\""`,
  "line separators": '"\u2028\u2029"',
  "byte order mark": '"\ufeffx"',
  "lone high surrogate": String.raw`"a\ud800b"`,
  "lone low surrogate": String.raw`"\udc00"`,
  "surrogates the wrong way round": String.raw`"\udc00\ud800"`,
  "names of the prototype": '{"__proto__":{"a":1},"constructor":2,"toString":3,"hasOwnProperty":null}',
  "names of ours": '{"payload":1,"encoding":"base64","tasks":[],"id":"x"}',
  "numeric names": '{"1":"a","b":{"0":[]}}',
  "900 levels": nested(900),
  "1 MB": JSON.stringify("x".repeat(1_000_000)),
  "1 MiB, the most": JSON.stringify("x".repeat(1_048_574)),
  "1 MB of emoji": JSON.stringify("🎉".repeat(250_000)),
};

describe.each(Object.entries(awkward))("%s", (name, json) => {
  const queue = name.replaceAll(/[^A-Za-z0-9]/g, "-");
  const post = async (path: string, body: string) => {
    const response = await served.app.request(`/v1/queues/${queue}/tasks${path}`, {
      method: "POST",
      headers: { authorization: "Bearer all-0123456789abcdef", "content-type": "application/json" },
      body,
    });
    return response.text();
  };

  it("comes back identical as payload, result and error", async () => {
    await post("", `{"payload":${json},"id":"x"}`);
    await post("", `{"tasks":[{"payload":${json},"id":"y"}]}`);
    const text = await post("/pull", '{"max":2}');
    const [x, y] = JSON.parse(text).tasks;
    expect(JSON.stringify(x.payload) === json).toBe(true);
    expect(JSON.stringify(y.payload) === json).toBe(true);
    expect(text.includes(`"payload":${json},"attempt"`)).toBe(true);

    const kept = json.length <= 4_000;
    const { results } = JSON.parse(
      await post(
        "/settle",
        `{"settlements":[{"receipt":"${x.receipt}","outcome":"complete","result":${json}},
          {"receipt":"${y.receipt}","outcome":"reject","error":${kept ? json : 1}}]}`,
      ),
    );
    expect(results).toMatchObject([{ ok: true }, { ok: true }]);
    const shown = async (id: string) => (await served.ask("GET", `/v1/queues/${queue}/tasks/${id}`)).body;
    expect(JSON.stringify((await shown("x")).result) === json).toBe(true);
    expect(JSON.stringify((await shown("y")).error) === (kept ? json : "1")).toBe(true);
  });
});

describe("bytes", () => {
  const every = Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)).toString("base64");
  const big = Buffer.alloc(1_048_576, 7).toString("base64");

  it.each([
    ["none", ""],
    ["every byte", every],
    ["1 MiB", big],
  ])("come back identical: %s", async (name, payload) => {
    const path = `/v1/queues/bytes-${name.replaceAll(" ", "-")}/tasks`;
    await served.ask("POST", path, { json: { payload, encoding: "base64" } });
    const { body } = await served.ask("POST", `${path}/pull`);
    expect(body.tasks[0].encoding).toBe("base64");
    expect(body.tasks[0].payload === payload).toBe(true);
  });

  it("are kept as result and as error", async () => {
    const path = "/v1/queues/bytes/tasks";
    await served.ask("POST", path, {
      json: {
        tasks: [
          { payload: 1, id: "x" },
          { payload: 1, id: "y" },
        ],
      },
    });
    const [x, y] = (await served.ask("POST", `${path}/pull`, { json: { max: 2 } })).body.tasks;
    const settlements = [
      { receipt: x.receipt, outcome: "complete", result: every, encoding: "base64" },
      { receipt: y.receipt, outcome: "reject", error: every, encoding: "base64" },
    ];
    await served.ask("POST", `${path}/settle`, { json: { settlements } });
    expect((await served.ask("GET", `${path}/x`)).body).toMatchObject({ result: every, encoding: "base64" });
    expect((await served.ask("GET", `${path}/y`)).body).toMatchObject({
      error: every,
      errorEncoding: "base64",
    });
  });

  it("are distinguished from a text that looks like them", async () => {
    const path = "/v1/queues/looks-like/tasks";
    await served.ask("POST", path, { json: { payload: "AAEC" } });
    const [task] = (await served.ask("POST", `${path}/pull`)).body.tasks;
    expect(task).toMatchObject({ payload: "AAEC" });
    expect(task).not.toHaveProperty("encoding");
  });

  it.each(["AAE", "AA E", "AAE*", "A===", "====", "AA==AA==", "AA-_", 5, null])(
    "that are not base64 are refused: %j",
    async (payload) => {
      const { status, body } = await served.ask("POST", "/v1/queues/bytes/tasks", {
        json: {
          tasks: [
            { payload: "AAEC", encoding: "base64" },
            { payload, encoding: "base64" },
          ],
        },
      });
      expect([status, body.errors]).toEqual([
        400,
        [
          {
            path: "tasks[1].payload",
            message: "must be base64 with its padding, because `encoding` is base64",
          },
        ],
      ]);
    },
  );
});
