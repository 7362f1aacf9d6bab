import { describe, expect, test } from "vitest";
import type { TokenEntry } from "../../src/http/auth/tokens.ts";
import { expectProblem, secrets, tokens, useServed } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: see test/operate/search.test.ts.

const hiding: TokenEntry = {
  token: "hide-0123456789abcdef",
  scopes: ["view"],
  queues: "*",
  payloads: "hidden",
};
const served = useServed({ tokens: [...tokens, hiding] });

const find = async (query: Readonly<Record<string, string>>, token: string = secrets.view) => {
  const headers = { authorization: `Bearer ${token}` };
  return served.ask("GET", `/v1/search?${new URLSearchParams(query)}`, { as: null, headers });
};
const shown = (body: { tasks: { queue: string; id: string; found: string }[] }) =>
  body.tasks.map(({ queue, id, found }) => `${queue} ${id} ${found}`);
const enqueue = (queue: string, json: unknown) => served.ask("POST", `/v1/queues/${queue}/tasks`, { json });

/** A pending, a completed and a dead task in the queue; each has the word. */
async function fill(queue: string, word: string): Promise<void> {
  await enqueue(queue, { tasks: [1, 2].map((n) => ({ id: `t${n}`, payload: n })) });
  const pulled = await served.ask("POST", `/v1/queues/${queue}/tasks/pull`, { json: { max: 2 } });
  const [done, dead] = pulled.body.tasks.map(({ receipt }: { receipt: string }) => receipt);
  const settlements = [
    { receipt: done, outcome: "complete", result: { is: word } },
    { receipt: dead, outcome: "reject", error: `no ${word}` },
  ];
  await served.ask("POST", `/v1/queues/${queue}/tasks/settle`, { json: { settlements } });
  await enqueue(queue, { id: "waits", payload: { at: word } });
}

describe("GET /v1/search", () => {
  test("finds tasks of the queues of the token, page by page", async () => {
    await fill("mails-1", "alpha");
    await fill("other", "alpha");
    const { status, body } = await find({ text: "alpha" });
    expect(status).toBe(200);
    expect(shown(body)).toEqual(
      ["mails-1", "other"].flatMap((queue) => [
        `${queue} t2 error`,
        `${queue} waits payload`,
        `${queue} t1 result`,
      ]),
    );
    expect(body).toMatchObject({
      looked: { queues: expect.any(Number) },
      unsearched: 0,
      failed: [],
      cursor: null,
    });
    expect(body.tasks[1]).toMatchObject({ preview: '{"at":"alpha"}' });
    expect(shown((await find({ text: "alpha" }, secrets.mails)).body)).toHaveLength(3);
    expect(shown((await find({ text: "alpha", queues: "oth*", state: "rejected" })).body)).toEqual([
      "other t2 error",
    ]);
    const first = (await find({ text: "alpha", size: "4" })).body;
    expect(shown(first)).toHaveLength(4);
    const rest = (await find({ text: "alpha", size: "4", cursor: first.cursor })).body;
    expect([shown(rest), rest.cursor]).toEqual([["other waits payload", "other t1 result"], null]);
  });

  test("a token that hides payloads searches ids and errors alone, and is shown no values", async () => {
    await fill("hidden", "beta");
    const { body } = await find({ text: "beta" }, hiding.token);
    expect(shown(body)).toEqual(["hidden t2 error"]);
    await enqueue("hidden", { id: "beta", payload: "beta" });
    const [byId, ...others] = (await find({ text: "beta", queues: "hidden" }, hiding.token)).body.tasks;
    expect(byId).toMatchObject({ id: "beta", payloadsHidden: true, found: "id" });
    for (const task of [byId, ...others])
      for (const value of ["payload", "preview", "result"]) expect(task).not.toHaveProperty(value);
  });

  test("is refused for a wrong query, and without the scope", async () => {
    for (const [query, path] of [
      [{}, "text"],
      [{ text: "" }, "text"],
      [{ text: "a", size: "0" }, "size"],
      [{ text: "a", state: "dead" }, "state"],
    ] as const) {
      const { errors } = expectProblem(await find(query), "invalid_request");
      expect(errors).toMatchObject([{ path }]);
    }
    expectProblem(await find({ text: "a", cursor: "x" }), "invalid_request");
    expectProblem(await find({ text: "a" }, secrets.enqueue), "forbidden");
  });
});
