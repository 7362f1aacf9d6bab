import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/model calls over HTTP too.

const { ask, queue, path, pull } = servedQueue();

const at = (name: string) => `${path()}/schedules/${encodeURIComponent(name)}`;
const put = (name: string, json: unknown, headers = {}) => ask("PUT", at(name), { json, headers });
const get = (name: string) => ask("GET", at(name));

/** An instant years ahead, so that nothing occurs while a test runs. */
const FAR = 4_000_000_000_000;

describe("a schedule", () => {
  it("is created, shown with its task, changed, paused, resumed and removed", async () => {
    const payload = { report: "daily ✓" };
    const task = { payload, lease: "10m", group: "tenant;7", headers: { trace: "4f" } };
    const created = await put("nightly", { every: "1d", from: FAR, missed: "all", until: FAR * 2, ...task });
    const { createdAt } = created.body;
    const same = { name: "nightly", queue: queue(), paused: false, createdAt, lastAt: null };
    const often = { every: 86_400_000, from: FAR, missed: "all", until: FAR * 2, nextAt: FAR };
    expect([created.status, created.body]).toEqual([201, { ...same, ...often, created: true }]);
    expect((await get("nightly")).body).toEqual({ ...same, ...often, ...task, lease: 600_000 });
    const paused = { paused: true, nextAt: null };
    expect((await ask("POST", `${at("nightly")}/pause`)).body).toMatchObject(paused);
    const resumed = { paused: false, nextAt: FAR };
    expect((await ask("POST", `${at("nightly")}/resume`, { json: {} })).body).toMatchObject(resumed);

    const yearly = { cron: "0 0 1 1 *", timeZone: "Europe/Berlin" };
    const changed = await put("nightly", { ...yearly, payload: null });
    const { nextAt } = changed.body;
    const expected = { ...same, ...yearly, missed: "last", nextAt, created: false };
    expect([changed.status, changed.body]).toEqual([200, expected]);
    expect((await get("nightly")).body.payload).toBe(null);
    expect((await ask("DELETE", at("nightly"))).body).toEqual({ name: "nightly", removed: true });
    expectProblem(await get("nightly"), "not_found");
  });

  it("has a name of at most 100 characters, in the form of an id; gives bytes back as bytes, in base64", async () => {
    const name = `a/b;c%d?${"x".repeat(92)}`;
    const bytes = { payload: "AAH/", encoding: "base64" };
    expect((await put(name, { cron: "@yearly", ...bytes })).status).toBe(201);
    expect((await get(name)).body).toMatchObject({ name, ...bytes });
    expect((await ask("POST", `${at(name)}/pause`)).body.paused).toBe(true);
    const { errors } = expectProblem(
      await put(`${name}x`, { cron: "@yearly", payload: 1 }),
      "invalid_request",
    );
    expect(errors).toEqual([{ path: "schedule", message: expect.stringMatching(/^must/) }]);
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

  it.each([["GET"], ["DELETE"], ["POST", "/pause"], ["POST", "/resume"]])(
    "that does not exist: %s%s answers not found",
    async (method, verb = "") => {
      const { detail } = expectProblem(await ask(method, `${at("missing")}${verb}`), "not_found");
      expect(detail).toBe("There is no schedule with this name in the queue.");
    },
  );
});

it("schedules come by pages, without their tasks, are no queues, and are removed with their queue", async () => {
  const names = Array.from({ length: 5 }, (_, i) => `s${i}`);
  for (const name of names) await put(name, { cron: "@yearly", payload: "p" });
  const found = new Set<string>();
  for (let query = "?size=2"; query !== "";) {
    const { body } = await ask("GET", `${path()}/schedules${query}`);
    for (const schedule of body.schedules) {
      found.add(schedule.name);
      expect(schedule).not.toHaveProperty("payload");
    }
    query = body.cursor === null ? "" : `?size=2&cursor=${body.cursor}`;
  }
  expect([...found].toSorted()).toEqual(names);
  const listed = (await ask("GET", "/v1/queues?size=1000")).body.queues.map(
    ({ name }: { name: string }) => name,
  );
  expect(listed.filter((name: string) => name.startsWith("~"))).toEqual([]);
  expect(listed).toContain(queue());
  await ask("DELETE", path());
  expect((await ask("GET", `${path()}/schedules`)).body).toEqual({ schedules: [], cursor: null });
});

it("a copy of a request with the same Idempotency-Key gets the first answer, and does not bring a removed schedule back, nor remove a new one", async () => {
  const json = { every: "1h", from: FAR, payload: 1 };
  const [key, another] = [{ "idempotency-key": "one" }, { "idempotency-key": "two" }];
  const first = await put("x", json, key);
  expect((await put("x", json, key)).body).toEqual(first.body);
  await ask("DELETE", at("x"), { headers: another });
  const { createdAt: _, ...answer } = first.body;
  expect((await put("x", json, key)).body).toMatchObject(answer);
  expectProblem(await get("x"), "not_found");
  await put("x", json);
  expect((await ask("DELETE", at("x"), { headers: another })).status).toBe(200);
  expect((await get("x")).status).toBe(200);
});
