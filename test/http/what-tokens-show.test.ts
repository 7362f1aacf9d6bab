import { beforeAll, describe, expect, test } from "vitest";
import type { Scope, TokenEntry } from "../../src/http/auth/tokens.ts";
import { taskStates } from "../../src/kernel/options/types.ts";
import { readKeySpace } from "../support/key-space.ts";
import { callables } from "./access-rows.ts";
import { type Ask, expectProblem, tokens, useServed } from "./served.ts";

// What holders of a token can see and change, as SECURITY.md says.

/** In every payload, result, progress and header of a seeded queue, also in the names of their fields. */
const MARK = "MARKED-4711";
/** In every error of a seeded queue. */
const ERROR = "an-error-4712";

const content = (of: string) => ({ [`${MARK}-field`]: `${MARK} ${of}` });
const headers = { [`x-${MARK}`.toLowerCase()]: MARK };

/**
 * Fills a queue with a task named `known` that is working, with progress; tasks in the other states; a schedule
 * named `known`; a worker named `known`; settings and statistics.
 * @returns the lease token of the working task
 */
async function seed(ask: Ask, queue: string): Promise<string> {
  const at = `/v1/queues/${queue}`;
  const call = async (method: string, path: string, json?: unknown) => {
    const { status, body } = await ask(method, `${at}${path}`, { json });
    expect([method, path, status < 300, body]).toEqual([method, path, true, body]);
    return body;
  };
  await call("PATCH", "/settings", { statistics: true, maxWorking: 100 });
  const ids = ["known", "failed", "done", "dead", "bytes"];
  await call("POST", "/tasks", {
    tasks: ids.map((id) =>
      id === "bytes"
        ? { id, payload: btoa(MARK), encoding: "base64", headers }
        : { id, payload: content("payload"), headers },
    ),
  });
  const { tasks } = await call("POST", "/tasks/pull", { max: 10, worker: { name: "known" } });
  const receiptOf = (id: string) => tasks.find((task: { id: string }) => task.id === id).receipt;
  await call("POST", "/tasks/settle", {
    settlements: [
      { receipt: receiptOf("known"), outcome: "extend", lease: "1h", progress: content("progress") },
      {
        receipt: receiptOf("failed"),
        outcome: "requeue",
        delay: "1h",
        error: { name: "Error", message: ERROR },
      },
      { receipt: receiptOf("done"), outcome: "complete", result: content("result"), ttl: "1h" },
      { receipt: receiptOf("dead"), outcome: "reject", error: ERROR },
      { receipt: receiptOf("bytes"), outcome: "complete", result: btoa(MARK), encoding: "base64", ttl: "1h" },
    ],
  });
  await call("POST", "/tasks", { id: "waiting", payload: content("payload"), headers, group: "known" });
  const flow = [
    { ref: "first", queue, payload: content("payload"), delay: "1h" },
    { ref: "blocked", queue, payload: content("payload"), headers, after: "first" },
  ];
  expect((await ask("POST", "/v1/flows", { json: { tasks: flow } })).status).toBe(201);
  const schedule = { every: "1h", headers };
  await call("PUT", "/schedules/known", { ...schedule, payload: content("schedule") });
  await call("PUT", "/schedules/bytes", { ...schedule, payload: btoa(MARK), encoding: "base64" });
  return receiptOf("known").split(".")[3];
}

const hidden = (name: string, ...scopes: Scope[]): TokenEntry => {
  return { token: `${name}-0123456789abcdef`, scopes, queues: "*", payloads: "hidden" };
};
const served = useServed({
  tokens: [
    ...tokens,
    hidden("look", "view"),
    hidden("every", "enqueue", "consume", "view", "admin"),
    hidden("add", "enqueue"),
    // Two entries with the same token.
    hidden("two", "view", "consume"),
    { token: "two-0123456789abcdef", scopes: ["enqueue"], queues: "*" },
    hidden("part", "view"),
    { token: "part-0123456789abcdef", scopes: ["view"], queues: "bills", payloads: "shown" },
  ],
});
let leaseToken: string;
beforeAll(async () => {
  for (const queue of ["mails", "bills"]) leaseToken = await seed(served.ask, queue);
});

const by = (token: string, ...[method, path, { headers, ...options } = {}]: Parameters<Ask>) => {
  const authorization = `Bearer ${token}-0123456789abcdef`;
  return served.ask(method, path, { as: null, headers: { authorization, ...headers }, ...options });
};
const keySpace = () => readKeySpace(served.redis.url);
const tasks = "/v1/queues/mails/tasks";
const ids = ["known", "failed", "done", "dead", "bytes", "waiting"];

/** Every address from which a token reads anything of the queue. */
const reads = (queue: string) => {
  const at = `/v1/queues/${queue}`;
  const queries = ["", "?payload=true", "?wait=1", "?payload=true&wait=1"];
  return [
    ...callables
      .filter(({ method, scopes }) => method === "GET" && scopes.length > 0)
      .map(({ path }) => path(queue)),
    ...ids.flatMap((id) => queries.map((query) => `${at}/tasks/${id}${query}`)),
    ...taskStates.flatMap((state) =>
      ["", "&payloads=true"].map((more) => `${at}/tasks?state=${state}${more}`),
    ),
    `${at}/schedules/bytes`,
  ];
};

/** All that a token is shown of a queue, the streams of its tasks included. */
async function seen(token: string, queue = "mails") {
  const stream = { headers: { accept: "text/event-stream" } };
  const answers = await Promise.all([
    ...reads(queue).map((path) => by(token, "GET", path)),
    ...ids.map((id) => by(token, "GET", `/v1/queues/${queue}/tasks/${id}?wait=1`, stream)),
  ]);
  const shown = answers.filter(({ status }) => status === 200);
  const text = shown.map(({ body, headers }) => JSON.stringify([body, [...headers]])).join("\n");
  return { count: shown.length, text };
}

const marks = new RegExp(`${MARK}|${btoa(MARK).slice(0, 12)}`, "i");

describe("what a token shows", () => {
  test("only the consumer that pulled a task is shown its lease token, whatever the scope", async () => {
    expect(leaseToken).toMatch(/^\w{16}$/);
    const { count, text } = await seen("all", "bills");
    // What was before a task only its consumers may read.
    expect(count).toBe((await seen("view", "bills")).count + 1);
    expect(count).toBeGreaterThan(50);
    expect(text).not.toContain(leaseToken);
    // It was shown what it may see.
    for (const shown of [marks, ERROR]) expect(text).toMatch(shown);
  });

  test("for enqueueing: results and errors of tasks whose id is known, and no payload", async () => {
    const { count, text } = await seen("enqueue");
    // Each of the tasks, with and without a wait, and its stream; and what the token may do.
    expect(count).toBe(1 + 1 + ids.length * 3);
    expect(text).not.toMatch(new RegExp(`${MARK} payload`));
    for (const shown of [`${MARK} result`, ERROR]) expect(text).toContain(shown);
    expectProblem(await by("enqueue", "GET", `${tasks}/known?payload=true`), "forbidden");
  });

  test("for consuming, and the cron secret: nothing but what is pulled, and what the token may do", async () => {
    const { count, text } = await seen("consume");
    // What was before the task: nothing.
    expect(text).toContain('{"tasks":{}}');
    expect([count, text]).toEqual([2, expect.stringContaining('"grants":[{"scopes":["consume"]')]);
    const cron = await seen("cron");
    // The sweep, which returns counts.
    expect(cron.count).toBe(1);
    for (const of of [text, cron.text])
      expect(of).not.toMatch(new RegExp(`${marks.source}|${ERROR}|known`, "i"));
  });

  test("for viewing: it can change nothing: it is refused by every route that does not only read, and no call writes", async () => {
    const before = await keySpace();
    for (const { route, method, path, json, scopes } of callables) {
      const isReading = scopes.length === 0 || scopes.includes("view");
      if (isReading) expect([route, method]).toEqual([route, "GET"]);
      for (const queue of ["mails", "new"]) {
        const { status, body } = await by("view", method, path(queue), { json });
        const expected = isReading ? [true, undefined] : [false, "forbidden"];
        const code = status === 404 ? undefined : body.code;
        expect([route, [200, 302, 404].includes(status), code]).toEqual([route, ...expected]);
      }
      const headers = { "x-http-method-override": "DELETE" };
      for (const other of ["HEAD", "OPTIONS", "PUT", "PATCH", "DELETE", "POST"]) {
        const body = other === "HEAD" ? {} : { json };
        expect((await by("view", other, path("mails"), { headers, ...body })).status).toBeLessThan(500);
      }
      await by("view", "GET", `${path("mails").replace(/\?.*/, "")}?_method=DELETE`);
    }
    expect(await keySpace()).toEqual(before);
  });
});

describe("a token that hides payloads", () => {
  test.each(["look", "every", "add", "part"])(
    "is shown no payload, result, progress or header by any route: %s",
    async (token) => {
      const { text } = await seen(token);
      expect(text).not.toMatch(marks);
      // Errors say why a task failed.
      expect(text).toContain(ERROR);
    },
  );

  test("is shown them for queues for which another entry shows them", async () => {
    const { text } = await seen("part", "bills");
    for (const shown of [marks, ERROR]) expect(text).toMatch(shown);
    expect((await by("part", "GET", "/v1/token")).body.grants).toEqual([
      { scopes: ["view"], queues: "*", payloads: "hidden" },
      { scopes: ["view"], queues: "bills" },
    ]);
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

  test("hides only if all of its entries that allow the request hide", async () => {
    // The entry that shows has the scope enqueue, which does not allow a request for the payload.
    const result = { [`${MARK}-field`]: `${MARK} result` };
    expect((await by("two", "GET", `${tasks}/done`)).body.result).toEqual(result);
    const hides = { payloadsHidden: true };
    expect((await by("two", "GET", `${tasks}/done?payload=true`)).body).toMatchObject(hides);
    expect((await by("two", "GET", `${tasks}?state=completed`)).body.tasks[0]).toMatchObject(hides);
  });

  test("cannot search results, which would show parts of them, but errors, which finds nothing else", async () => {
    const before = await keySpace();
    for (const text of [MARK, "nothing has this"]) {
      const listed = await by("look", "GET", `${tasks}?state=completed&text=${text}`);
      const json = { state: "completed", text };
      const purged = await by("every", "POST", "/v1/queues/mails/purge", { json });
      for (const answer of [listed, purged])
        expect(expectProblem(answer, "forbidden").detail).toContain("result");
    }
    expect(await keySpace()).toEqual(before);
    const found = async (state: string, text: string) =>
      (await by("look", "GET", `${tasks}?state=${state}&text=${text}`)).body.tasks;
    for (const state of taskStates) if (state !== "completed") expect(await found(state, MARK)).toEqual([]);
    expect(await found("rejected", ERROR)).toMatchObject([{ id: "dead" }]);
    const dry = { json: { text: MARK, dryRun: true } };
    expect((await by("every", "POST", "/v1/queues/mails/redrive", dry)).body.redriven).toBe(0);
  });

  test("may not pull: it would lease tasks that it cannot see, and a settle with pull settles nothing", async () => {
    const before = await keySpace();
    const pull = await by("every", "POST", `${tasks}/pull`);
    expect(expectProblem(pull, "forbidden").detail).toBe("A pull returns payloads, which the token hides.");
    const settlements = [{ receipt: `1.1.1.${"x".repeat(16)}.known`, outcome: "complete" }];
    const settle = await by("every", "POST", `${tasks}/settle`, { json: { settlements, pull: {} } });
    expectProblem(settle, "forbidden");
    expect(await keySpace()).toEqual(before);
  });

  test("learns nothing of the size of payloads: a page is as long as without them", async () => {
    const payload = "x".repeat(900_000);
    const big = Array.from({ length: 9 }, (_, at) => ({ id: `big${at}`, payload }));
    await served.ask("POST", "/v1/queues/big/tasks", { json: { tasks: big } });
    const path = "/v1/queues/big/tasks?state=pending&payloads=true";
    expect((await served.ask("GET", path)).body.tasks.length).toBeLessThan(9);
    expect((await by("look", "GET", path)).body.tasks.length).toBe(9);
  });
});
