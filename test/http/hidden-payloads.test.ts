import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApp } from "../../src/http/app.ts";
import type { Scope, TokenEntry } from "../../src/http/auth/tokens.ts";
import { taskStates } from "../../src/queue/core/types.ts";
import { readKeySpace } from "../support/key-space.ts";
import { callables } from "./access-rows.ts";
import { ERROR, MARK, seed } from "./seeded.ts";
import { type Answer, type Ask, asker, expectProblem, secrets, serve } from "./served.ts";

// Tokens with `"payloads": "hidden"`.

const hidden = (name: string, queues: string, ...scopes: Scope[]): TokenEntry => ({
  token: `${name}-0123456789abcdef`,
  scopes,
  queues,
  payloads: "hidden",
});
const entries: readonly TokenEntry[] = [
  { token: secrets.all, scopes: ["enqueue", "consume", "admin"], queues: "*" },
  hidden("look", "*", "view"),
  hidden("every", "*", "enqueue", "consume", "view", "admin"),
  hidden("enqueue", "*", "enqueue"),
  // Two entries with the same token.
  hidden("two", "*", "view", "consume"),
  { token: "two-0123456789abcdef", scopes: ["enqueue"], queues: "*" },
  hidden("part", "*", "view"),
  { token: "part-0123456789abcdef", scopes: ["view"], queues: "bills", payloads: "shown" },
];

let served: Awaited<ReturnType<typeof serve>>;
let ask: Ask;
beforeAll(async () => {
  served = await serve();
  const app = createApp({ transport: served.transport, tokens: entries });
  ask = asker((request) => app.fetch(request));
  for (const queue of ["mails", "bills"]) await seed(ask, queue);
});
afterAll(() => served.stop());

const by = (token: string, method: string, path: string, json?: unknown, headers = {}): Promise<Answer> =>
  ask(method, path, {
    as: null,
    json,
    headers: { authorization: `Bearer ${token}-0123456789abcdef`, ...headers },
  });
const tasks = "/v1/queues/mails/tasks";
const ids = ["known", "failed", "done", "dead", "bytes", "waiting"];

/** Every address from which a token with the scope view reads anything of the queue. */
const reads = (queue: string) => [
  ...callables.filter(({ method }) => method === "GET").map(({ path }) => path(queue)),
  ...ids.flatMap((id) =>
    ["", "?payload=true", "?wait=1", "?payload=true&wait=1"].map(
      (query) => `/v1/queues/${queue}/tasks/${id}${query}`,
    ),
  ),
  ...taskStates.flatMap((state) =>
    ["", "&payloads=true"].map((more) => `/v1/queues/${queue}/tasks?state=${state}${more}`),
  ),
  `/v1/queues/${queue}/schedules/bytes`,
];

/** All that a token is shown of a queue, the streams of its tasks included. */
async function seen(token: string, queue: string): Promise<string> {
  const answers = await Promise.all([
    ...reads(queue).map((path) => by(token, "GET", path)),
    ...ids.map((id) =>
      by(token, "GET", `/v1/queues/${queue}/tasks/${id}?wait=1`, undefined, { accept: "text/event-stream" }),
    ),
  ]);
  const texts = answers.map(({ body, headers }) => JSON.stringify([body, [...headers]]));
  expect(texts.length).toBeGreaterThan(50);
  return texts.join("\n");
}

const marks = new RegExp(`${MARK}|${btoa(MARK).slice(0, 12)}`, "i");

describe("a token that hides payloads", () => {
  test.each(["look", "every", "enqueue", "part"])(
    "is shown no payload, result, progress or header by any route: %s",
    async (token) => {
      expect(await seen(token, "mails")).not.toMatch(marks);
    },
  );

  test("the same routes show them to other tokens, and errors to both", async () => {
    for (const token of ["look", "every", "part"]) expect(await seen(token, "mails")).toContain(ERROR);
    const shown = await seen("part", "bills");
    expect(shown).toMatch(marks);
    expect(shown).toContain(ERROR);
  });

  test("says in every task and schedule that it hides, whether there was something or not", async () => {
    const task = (await by("look", "GET", `${tasks}/dead?payload=true`)).body;
    for (const name of ["payload", "result", "progress", "headers"]) expect(task).not.toHaveProperty(name);
    expect([task.error, task.payloadsHidden]).toEqual([ERROR, true]);
    for (const state of taskStates) {
      const { body } = await by("look", "GET", `${tasks}?state=${state}&payloads=true`);
      expect(body.tasks.length).toBeGreaterThan(0);
      for (const one of body.tasks) expect(one.payloadsHidden).toBe(true);
    }
    const schedule = (await by("look", "GET", "/v1/queues/mails/schedules/bytes")).body;
    expect([schedule.payloadsHidden, "encoding" in schedule]).toEqual([true, false]);
    const shown = await by("part", "GET", "/v1/queues/bills/tasks/dead?payload=true");
    expect(shown.body).not.toHaveProperty("payloadsHidden");
  });

  test("knows that of itself", async () => {
    expect((await by("part", "GET", "/v1/token")).body.grants).toEqual([
      { scopes: ["view"], queues: "*", payloads: "hidden" },
      { scopes: ["view"], queues: "bills" },
    ]);
  });

  test("is hidden from only if all of its entries that allow the request hide", async () => {
    // The entry that shows has the scope enqueue, which does not allow a request for the payload.
    const result = { [`${MARK}-field`]: `${MARK} result` };
    expect((await by("two", "GET", `${tasks}/done`)).body.result).toEqual(result);
    const hides = { payloadsHidden: true };
    expect((await by("two", "GET", `${tasks}/done?payload=true`)).body).toMatchObject(hides);
    expect((await by("two", "GET", `${tasks}?state=completed`)).body.tasks[0]).toMatchObject(hides);
  });

  test("cannot search results, which would show parts of them", async () => {
    const before = await readKeySpace(served.redis.url);
    for (const text of [MARK, "nothing has this"]) {
      const listed = await by("look", "GET", `${tasks}?state=completed&text=${text}`);
      expect(expectProblem(listed, "forbidden").detail).toContain("result");
      const purged = await by("every", "POST", "/v1/queues/mails/purge", { state: "completed", text });
      expect(expectProblem(purged, "forbidden").detail).toContain("result");
    }
    expect(await readKeySpace(served.redis.url)).toEqual(before);
  });

  test("can search errors, which finds nothing of payload, result, progress or headers", async () => {
    const states = taskStates.filter((state) => state !== "completed");
    for (const state of states) {
      expect((await by("look", "GET", `${tasks}?state=${state}&text=${MARK}`)).body.tasks).toEqual([]);
    }
    const { body } = await by("look", "GET", `${tasks}?state=rejected&text=${ERROR}`);
    expect(body.tasks.map(({ id }: { id: string }) => id)).toEqual(["dead"]);
    const dry = await by("every", "POST", "/v1/queues/mails/redrive", { text: MARK, dryRun: true });
    expect(dry.body.redriven).toBe(0);
  });

  test("may not pull: it would lease tasks that it cannot see, and a settle with pull settles nothing", async () => {
    const before = await readKeySpace(served.redis.url);
    expect(expectProblem(await by("every", "POST", `${tasks}/pull`), "forbidden").detail).toBe(
      "A pull returns payloads, which the token hides.",
    );
    const settlements = [{ receipt: `1.1.1.${"x".repeat(16)}.known`, outcome: "complete" }];
    expectProblem(await by("every", "POST", `${tasks}/settle`, { settlements, pull: {} }), "forbidden");
    expect(await readKeySpace(served.redis.url)).toEqual(before);
  });

  test("learns nothing of the size of payloads: a page is as long as without them", async () => {
    const payload = "x".repeat(900_000);
    const big = Array.from({ length: 9 }, (_, at) => ({ id: `big${at}`, payload }));
    await ask("POST", "/v1/queues/big/tasks", { json: { tasks: big } });
    const path = "/v1/queues/big/tasks?state=pending&payloads=true";
    expect((await ask("GET", path)).body.tasks.length).toBeLessThan(9);
    expect((await by("look", "GET", path)).body.tasks.length).toBe(9);
  });
});
