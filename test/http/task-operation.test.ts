import { expect, it } from "vitest";
import { servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/proofs/model calls over HTTP too.

const { ask, path, tasks, enqueue, pull, settle, get, counts } = servedQueue();

const list = async (query: string) => (await ask("GET", `${tasks()}?${query}`)).body;
const redrive = async (json: unknown) => (await ask("POST", `${path()}/redrive`, { json })).body;
const purge = async (json: unknown) => (await ask("POST", `${path()}/purge`, { json })).body;
const named = (...ids: string[]) => ids.map((id) => ({ id, payload: id }));
const idsOf = (page: { tasks: { id: string }[] }) => page.tasks.map(({ id }) => id);

/** Makes dead letters, each with its error: of tasks that fail on their only attempt, or that are rejected. */
async function kill(
  errors: Readonly<Record<string, unknown>>,
  { outcome = "requeue", ...options }: { outcome?: "requeue" | "reject"; group?: string } = {},
): Promise<void> {
  await enqueue({
    tasks: named(...Object.keys(errors)).map((task) => ({ ...task, maxAttempts: 1, ...options })),
  });
  const pulled: { id: string; receipt: string }[] = (await pull({ max: 100 })).body.tasks;
  await settle(...pulled.map(({ id, receipt }) => ({ receipt, outcome, error: errors[id] })));
}

it("tasks are listed with their payloads if asked, and none is leased", async () => {
  const [json, bytes] = [
    { id: "json", payload: { to: "a@example.com" }, headers: { trace: "t" }, group: "g" },
    { id: "bytes", payload: "AAEC/w==", group: "g" },
  ];
  await enqueue({
    tasks: [json, { ...bytes, encoding: "base64" }, { id: "null", payload: null, group: "g" }],
  });
  const shown = [json, { ...bytes, payloadEncoding: "base64" }, { id: "null", payload: null }];
  expect((await list("state=pending&size=10&payloads=true")).tasks).toMatchObject(shown);
  expect(await counts()).toMatchObject({ pending: 3, working: 0 });
  for (const task of (await list("state=pending&payloads=false")).tasks)
    expect(task).toEqual((await get(task.id)).body);
});

it("tasks are searched by the text of their error, and by the time of their enqueue", async () => {
  const before = Date.now() - 1_000;
  const outcome = "reject";
  await kill({ a: "503 from “the receiver”", b: { status: 503 } }, { group: "x;1", outcome });
  await kill({ c: "no such address", d: 503, e: undefined }, { outcome });
  for (const [query, ids] of Object.entries({
    "text=503": ["a", "b", "d"],
    [`text=${encodeURIComponent("“the receiver”")}`]: ["a"],
    "text=503&group=x%3B1": ["a", "b"],
    "text=rejected%20it%20for%20good": ["e"],
    "reason=attempts_exhausted,rejected&text=503": ["a", "b", "d"],
    [`enqueuedSince=${before}`]: ["a", "b", "c", "d", "e"],
    [`enqueuedUntil=${before}`]: [],
  }))
    expect([query, idsOf(await list(`state=rejected&${query}`)).toSorted()]).toEqual([query, ids]);
});

it("a redrive by the text of errors leaves what a consumer rejected for good, except by its reason", async () => {
  await kill({ a: "503", b: "404" });
  await kill({ c: "503" }, { outcome: "reject" });
  for (const [filter, redriven] of [
    [{ text: "503", dryRun: true }, 1],
    [{ text: "503", reason: ["rejected", "attempts_exhausted"] }, 2],
    [{}, 1],
  ] as const)
    expect([filter, await redrive(filter)]).toMatchObject([filter, { redriven }]);
});

it("a redrive with a rate delays the later ones; it and a purge stop at their limit, and go on with the cursor", async () => {
  const cursor = expect.any(String);
  await kill({ a: 1, b: 2, c: 3 });
  const first = await redrive({ limit: 2, rate: 0.01 });
  expect(first).toMatchObject({ redriven: 2, cursor });
  expect(await counts()).toMatchObject({ pending: 1, delayed: 1, rejected: 1 });
  expect(await redrive({ cursor: first.cursor })).toMatchObject({ redriven: 1, cursor: null });

  const of = { state: "pending", group: "x" };
  await enqueue({ tasks: named("d", "e", "f").map((task) => ({ ...task, group: "x" })) });
  const purged = await purge({ ...of, limit: 2 });
  expect(purged).toEqual({ purged: 2, cursor, unreadable: 0 });
  expect(await purge({ ...of, cursor: purged.cursor })).toMatchObject({ purged: 1, cursor: null });
  expect(await counts()).toMatchObject({ pending: 1, delayed: 2 });
});

it("dead letters are counted by cause and group, and each cause is found by its reason and text", async () => {
  await kill({ a: "no task 4711000", b: "no task 815000" }, { group: "g" });
  await kill({ c: "503" }, { outcome: "reject" });
  const { body } = await ask("GET", `${path()}/dead-letters`);
  expect(body).toMatchObject({
    counted: 3,
    causes: [
      { reason: "attempts_exhausted", error: "no task …", text: "no task", count: 2 },
      { reason: "rejected", error: "503", text: "503", count: 1, latest: { id: "c" } },
    ],
    groups: [
      { group: "g", count: 2 },
      { group: null, count: 1 },
    ],
    cursor: null,
  });
  const [{ reason, text }] = body.causes;
  const query = new URLSearchParams({ state: "rejected", reason, text });
  expect(idsOf(await list(query.toString())).toSorted()).toEqual(["a", "b"]);
  expect((await ask("GET", `${path()}/dead-letters?reason=rejected`)).body.counted).toBe(1);
  const refused = await ask("GET", `${path()}/dead-letters?reason=cancelled`);
  expect([refused.status, refused.body.errors]).toMatchObject([400, [{ path: "reason" }]]);
});

it("a list is read backwards, with previews of its payloads", async () => {
  const tasks = ["a", "b", "c"].map((id) => ({ id, payload: { to: `${id}@example.com` } }));
  await enqueue({ tasks: [...tasks, { id: "bytes", payload: "AAEC/w==", encoding: "base64" }] });
  const page = await list("state=pending&reverse=true&payloads=preview&size=2");
  expect(page.tasks).toMatchObject([
    { id: "bytes", previewOmitted: "bytes" },
    { id: "c", preview: '{"to":"c@example.com"}' },
  ]);
  const cursor = encodeURIComponent(page.cursor);
  const next = await list(`state=pending&reverse=true&size=2&cursor=${cursor}`);
  expect([idsOf(next), next.cursor]).toEqual([["b", "a"], null]);
  expect(next.tasks[0]).not.toHaveProperty("preview");
});

it("several tasks are cancelled, and several ended ones deleted, each with what became of it", async () => {
  await enqueue({ tasks: named("a", "b") });
  const many = async (verb: string, ids: unknown) =>
    (await ask("POST", `${tasks()}/${verb}`, { json: { ids } })).body;
  expect(await many("cancel", ["a", { id: "b", lease: 3 }, "none"])).toEqual({
    results: [
      { id: "a", ok: true, state: "rejected" },
      { id: "b", ok: false, code: "lease_lost" },
      { id: "none", ok: false, code: "not_found" },
    ],
  });
  expect(await many("delete", ["a", "b"])).toEqual({
    results: [
      { id: "a", ok: true },
      { id: "b", ok: false, code: "alive" },
    ],
  });
});
