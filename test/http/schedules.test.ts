import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

// What the requests and answers have beside what the library takes and returns: test/proofs/model calls over HTTP too.

const { ask, queue, path, pages } = servedQueue();

const at = (name: string) => `${path()}/schedules/${encodeURIComponent(name)}`;
const put = (name: string, json: unknown, headers = {}) => ask("PUT", at(name), { json, headers });
const get = (name: string) => ask("GET", at(name));
const listed = (size = 10) => pages(`${path()}/schedules`, "schedules", size);
const namesOf = (schedules: { name: string }[]) => schedules.map(({ name }) => name).toSorted();

/** An instant years ahead, so that nothing occurs while a test runs. */
const FAR = 4_000_000_000_000;

describe("a schedule", () => {
  it("is created, shown with its task, changed and removed", async () => {
    const payload = { report: "daily ✓" };
    const task = { payload, lease: "10m", group: "tenant;7", headers: { trace: "4f" } };
    const created = await put("nightly", { every: "1d", from: FAR, missed: "all", until: FAR * 2, ...task });
    const { createdAt } = created.body;
    const same = { name: "nightly", queue: queue(), paused: false, createdAt, lastAt: null };
    const often = { every: 86_400_000, from: FAR, missed: "all", until: FAR * 2, nextAt: FAR };
    expect([created.status, created.body]).toEqual([201, { ...same, ...often, created: true }]);
    expect((await get("nightly")).body).toEqual({ ...same, ...often, ...task, lease: 600_000 });
    const yearly = { cron: "0 0 1 1 *", timeZone: "Europe/Berlin" };
    const changed = await put("nightly", { ...yearly, payload: null });
    const { nextAt } = changed.body;
    const expected = { ...same, ...yearly, missed: "last", nextAt, created: false };
    expect([changed.status, changed.body]).toEqual([200, expected]);
    expect((await get("nightly")).body.payload).toBe(null);
    expect((await ask("DELETE", at("nightly"))).body).toEqual({ name: "nightly", removed: true });
    for (const [method, verb] of [
      ["GET", ""],
      ["DELETE", ""],
      ["POST", "/pause"],
      ["POST", "/resume"],
      ["POST", "/run"],
    ] as const) {
      const { detail } = expectProblem(await ask(method, `${at("nightly")}${verb}`), "not_found");
      expect([verb, detail]).toEqual([verb, "There is no schedule with this name in the queue."]);
    }
  });

  it("is run at once, by one task for an idempotency key", async () => {
    await put("nightly", { cron: "@yearly", payload: { report: 1 }, paused: true });
    const run = () => ask("POST", `${at("nightly")}/run`, { headers: { "idempotency-key": "k" } });
    const first = await run();
    expect([first.status, first.body]).toEqual([
      201,
      { id: expect.stringMatching(/^nightly\.\d{16}$/), created: true },
    ]);
    expect((await run()).body).toEqual(first.body);
    expect((await ask("GET", path())).body.pending).toBe(1);
  });

  it("has a name of at most 100 characters, in the form of an id; gives bytes back as bytes, in base64", async () => {
    const name = `a/b;c%d?${"x".repeat(92)}`;
    const bytes = { payload: "AAH/", encoding: "base64" };
    expect((await put(name, { cron: "@yearly", ...bytes })).status).toBe(201);
    expect((await get(name)).body).toMatchObject({ name, ...bytes });
    expect((await ask("POST", `${at(name)}/pause`)).body.paused).toBe(true);
    expect((await ask("POST", `${at(name)}/resume`)).body).toMatchObject({ paused: false, skipped: 0 });
    const longer = await put(`${name}x`, { cron: "@yearly", payload: 1 });
    const { errors } = expectProblem(longer, "invalid_request");
    expect(errors).toEqual([{ path: "schedule", message: expect.stringMatching(/^must/) }]);
  });
});

it("schedules come by pages, without their tasks, are no queues, and are removed with their queue", async () => {
  const names = Array.from({ length: 5 }, (_, i) => `s${i}`);
  for (const name of names) await put(name, { cron: "@yearly", payload: "p" });
  const all = (await listed(2)).flat();
  expect(namesOf(all)).toEqual(names);
  for (const schedule of all) expect(schedule).not.toHaveProperty("payload");
  const queues = (await pages("/v1/queues", "queues", 1_000)).flat();
  expect(queues.filter(({ name }) => !/^q\d+$/.test(name))).toEqual([]);
  expect(queues.map(({ name }) => name)).toContain(queue());
  await ask("DELETE", path());
  expect(await listed()).toEqual([[]]);
});

describe("the declaration of a queue", () => {
  const declare = (json: unknown) => ask("PUT", `${path()}/declaration`, { json });
  const settings = async () => (await ask("GET", `${path()}/settings`)).body;

  it("is applied once; what it no longer has is removed, what others have set stays", async () => {
    const digest = { name: "digest", cron: "0 9 * * 1", payload: { to: "team" } };
    const beat = { name: "constructor", every: "1m", payload: "AAEC/w==", encoding: "base64" };
    const first = { settings: { rate: { most: 5, per: "1s" }, events: true }, schedules: [digest, beat] };
    for (const status of ["applied", "unchanged"])
      expect((await declare(first)).body).toMatchObject({ status });
    expect(await settings()).toMatchObject({ rate: { most: 5, per: 1_000 }, events: true });
    expect(namesOf((await listed()).flat())).toEqual(["constructor", "digest"]);
    const { payload, encoding } = beat;
    expect((await get("constructor")).body).toMatchObject({ payload, encoding });

    await ask("PATCH", `${path()}/settings`, { json: { maxPending: 7 } });
    await put("own", { every: "1h", payload: 1 });
    expect((await declare({ settings: { events: true } })).body).toMatchObject({ status: "applied" });
    expect(await settings()).toMatchObject({ rate: null, events: true, maxPending: 7 });
    expect(namesOf((await listed()).flat())).toEqual(["own"]);
  });

  it("gives its defaults to the tasks of its schedules; counts null as left out", async () => {
    expect((await declare({ settings: { rate: null } })).body).toMatchObject({ status: "unchanged" });
    const schedule = { name: "s", every: "1h", payload: 1 };
    await declare({ schedules: [schedule], defaults: { maxAttempts: 3, resultTtl: "2h" } });
    expect((await get("s")).body).toMatchObject({ maxAttempts: 3, resultTtl: 7_200_000 });
  });

  it("is refused if a schedule has neither cron nor every, or a wrong cron", async () => {
    for (const recurrence of [{}, { cron: "every day" }, { cron: "* * * * *", every: "1h" }]) {
      const schedules = [{ name: "s", payload: 1, ...recurrence }];
      expectProblem(await declare({ settings: { maxWorking: 3 }, schedules }), "invalid_request");
    }
    expect([await listed(), (await settings()).maxWorking]).toEqual([[[]], null]);
  });
});
