import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, path, pull, counts } = servedQueue();

const at = (name: string) => `${path()}/schedules/${encodeURIComponent(name)}`;
const put = (name: string, json: unknown, headers = {}) => ask("PUT", at(name), { json, headers });
const get = (name: string) => ask("GET", at(name));

/** An instant years ahead, so that nothing occurs while a test runs. */
const FAR = 4_000_000_000_000;

describe("a schedule", () => {
  it("is created, shown with its task, changed and removed", async () => {
    const task = {
      payload: { report: "daily ✓" },
      lease: "10m",
      group: "tenant;7",
      headers: { trace: "4f" },
    };
    const created = await put("nightly", { every: "1d", from: FAR, missed: "all", until: FAR * 2, ...task });
    const listed = {
      name: "nightly",
      queue: queue(),
      every: 86_400_000,
      from: FAR,
      missed: "all",
      until: FAR * 2,
      paused: false,
      createdAt: expect.any(Number),
      nextAt: FAR,
      lastAt: null,
    };
    expect([created.status, created.body]).toEqual([201, { ...listed, created: true }]);
    expect((await get("nightly")).body).toEqual({ ...listed, ...task, lease: 600_000 });
    const { createdAt } = created.body;

    const changed = await put("nightly", { cron: "0 0 1 1 *", timeZone: "Europe/Berlin", payload: null });
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        name: "nightly",
        queue: queue(),
        cron: "0 0 1 1 *",
        timeZone: "Europe/Berlin",
        missed: "last",
        paused: false,
        createdAt,
        nextAt: expect.any(Number),
        lastAt: null,
        created: false,
      },
    ]);
    expect((await get("nightly")).body.payload).toBe(null);
    expect((await ask("DELETE", at("nightly"))).body).toEqual({ name: "nightly", removed: true });
    expectProblem(await get("nightly"), "not_found");
  });

  it("is paused and resumed", async () => {
    await put("x", { every: "1h", from: FAR, payload: 1 });
    expect((await ask("POST", `${at("x")}/pause`)).body).toMatchObject({ paused: true, nextAt: null });
    expect((await ask("POST", `${at("x")}/resume`, { json: {} })).body).toMatchObject({
      paused: false,
      nextAt: FAR,
    });
  });

  it("gives bytes back as bytes, in base64", async () => {
    await put("bytes", { cron: "@yearly", payload: "AAH/", encoding: "base64" });
    expect((await get("bytes")).body).toMatchObject({ payload: "AAH/", encoding: "base64" });
  });

  it("has a name of at most 100 characters, in the form of an id", async () => {
    const name = `a/b;c%d?${"x".repeat(92)}`;
    expect((await put(name, { cron: "@yearly", payload: 1 })).status).toBe(201);
    expect((await get(name)).body.name).toBe(name);
    expect((await ask("POST", `${at(name)}/pause`)).body.paused).toBe(true);
    for (const other of [`${name}x`, "-a", "a b"]) {
      const { errors } = expectProblem(await put(other, { cron: "@yearly", payload: 1 }), "invalid_request");
      expect(errors).toEqual([{ path: "schedule", message: expect.stringMatching(/^must/) }]);
    }
  });

  it("occurs by the sweep: its task has the schedule's name and the time in its headers", async () => {
    const { nextAt } = (await put("soon", { every: "1s", payload: "now" })).body;
    await new Promise((resolve) => setTimeout(resolve, nextAt - Date.now() + 50));
    const swept = await ask("POST", "/v1/sweep", { as: "cron" });
    expect(swept.body).toMatchObject({ scheduled: 1, failed: [] });
    const [task] = (await pull()).body.tasks;
    const time = Number(task.headers["scheduled-at"]);
    expect(task).toMatchObject({ payload: "now", id: `soon.${time}`, headers: { schedule: "soon" } });
    expect((time - nextAt) % 1_000).toBe(0);
    expect((await get("soon")).body).toMatchObject({ lastAt: time, nextAt: time + 1_000 });
    await ask("DELETE", at("soon"));
  });
});

describe("schedules", () => {
  it("come by pages, without their tasks, and are no queues", async () => {
    const names = Array.from({ length: 5 }, (_, i) => `s${i}`);
    for (const name of names) await put(name, { cron: "@yearly", payload: "p" });
    const found = new Set<string>();
    let query = "?size=2";
    for (;;) {
      const { body } = await ask("GET", `${path()}/schedules${query}`);
      for (const schedule of body.schedules) {
        found.add(schedule.name);
        expect(schedule).not.toHaveProperty("payload");
      }
      if (body.cursor === null) break;
      query = `?size=2&cursor=${body.cursor}`;
    }
    expect([...found].toSorted()).toEqual(names);
    const listed = (await ask("GET", "/v1/queues?size=1000")).body.queues;
    expect(listed.filter(({ name }: { name: string }) => name.startsWith("~"))).toEqual([]);
    expect(listed.map(({ name }: { name: string }) => name)).toContain(queue());
  });

  it("are removed with their queue", async () => {
    await put("x", { cron: "@yearly", payload: 1 });
    await ask("DELETE", path());
    expect((await ask("GET", `${path()}/schedules`)).body).toEqual({ schedules: [], cursor: null });
  });

  it("are for the scope admin", async () => {
    for (const as of ["enqueue", "consume", "cron"] as const) {
      expectProblem(await ask("GET", `${path()}/schedules`, { as }), "forbidden");
      const json = { cron: "@yearly", payload: 1 };
      expectProblem(await ask("PUT", at("x"), { json, as }), "forbidden");
      expectProblem(await ask("DELETE", at("x"), { as }), "forbidden");
    }
  });

  it.each([["GET"], ["DELETE"], ["POST", "/pause"], ["POST", "/resume"]])(
    "that do not exist: %s%s answers not found",
    async (method, verb = "") => {
      const { detail } = expectProblem(await ask(method, `${at("missing")}${verb}`), "not_found");
      expect(detail).toBe("There is no schedule with this name in the queue.");
    },
  );
});

describe("a copy of a request with the same Idempotency-Key", () => {
  const key = { "idempotency-key": "one" };
  const json = { every: "1h", from: FAR, payload: 1 };

  it("gets the first answer, and does not bring a removed schedule back", async () => {
    const first = await put("x", json, key);
    expect((await put("x", json, key)).body).toEqual(first.body);
    await ask("DELETE", at("x"));
    const { createdAt: _, ...answer } = first.body;
    expect((await put("x", json, key)).body).toMatchObject(answer);
    expectProblem(await get("x"), "not_found");
  });

  it("does not remove a schedule that was created again", async () => {
    await put("x", json);
    await ask("DELETE", at("x"), { headers: key });
    await put("x", json);
    expect((await ask("DELETE", at("x"), { headers: key })).status).toBe(200);
    expect((await get("x")).status).toBe(200);
  });
});

it.each([
  ["cron", { payload: 1 }],
  ["cron", { cron: "* * * * *", every: "1m", payload: 1 }],
  ["cron", { cron: "* * * *", payload: 1 }],
  ["cron", { cron: "61 * * * *", payload: 1 }],
  ["cron", { cron: 5, payload: 1 }],
  ["timeZone", { cron: "@daily", timeZone: "Mars/Olympus", payload: 1 }],
  ["timeZone", { every: "1m", timeZone: "UTC", payload: 1 }],
  ["every", { every: 999, payload: 1 }],
  ["from", { every: "1m", from: -1, payload: 1 }],
  ["from", { cron: "@daily", from: 1, payload: 1 }],
  ["schedule", { cron: "0 0 30 2 *", payload: 1 }],
  ["until", { cron: "@daily", until: "tomorrow", payload: 1 }],
  ["missed", { cron: "@daily", missed: "some", payload: 1 }],
  ["paused", { cron: "@daily", paused: 1, payload: 1 }],
  ["payload", { cron: "@daily" }],
  ["lease", { cron: "@daily", lease: 0, payload: 1 }],
  ["headers.schedule", { cron: "@daily", headers: { schedule: "mine" }, payload: 1 }],
  ["delay", { cron: "@daily", delay: "1m", payload: 1 }],
])("names the invalid field %j: %j", async (field, json) => {
  const { errors } = expectProblem(await put("x", json), "invalid_request");
  expect(errors).toEqual([{ path: field, message: expect.any(String) }]);
  expectProblem(await get("x"), "not_found");
  expect((await counts()).pending).toBe(0);
});
