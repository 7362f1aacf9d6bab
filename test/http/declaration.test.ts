import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, path } = servedQueue();

const declare = (json: unknown) => ask("PUT", `${path()}/declaration`, { json });
const settings = async () => (await ask("GET", `${path()}/settings`)).body;
const schedules = async () =>
  (await ask("GET", `${path()}/schedules`)).body.schedules
    .map(({ name }: { name: string }) => name)
    .toSorted();

describe("the declaration of a queue", () => {
  it("is applied once; what it no longer has is removed, what others have set stays", async () => {
    const digest = { name: "digest", cron: "0 9 * * 1", payload: { to: "team" } };
    const beat = { name: "constructor", every: "1m", payload: "AAEC/w==", encoding: "base64" };
    const first = { settings: { rate: { most: 5, per: "1s" }, events: true }, schedules: [digest, beat] };
    expect((await declare(first)).body).toMatchObject({ status: "applied" });
    expect((await declare(first)).body).toMatchObject({ status: "unchanged" });
    expect(await settings()).toMatchObject({ rate: { most: 5, per: 1_000 }, events: true });
    expect(await schedules()).toEqual(["constructor", "digest"]);
    expect((await ask("GET", `${path()}/schedules/constructor`)).body).toMatchObject({
      payload: "AAEC/w==",
      encoding: "base64",
    });

    await ask("PATCH", `${path()}/settings`, { json: { maxPending: 7 } });
    await ask("PUT", `${path()}/schedules/own`, { json: { every: "1h", payload: 1 } });
    expect((await declare({ settings: { events: true } })).body).toMatchObject({ status: "applied" });
    expect(await settings()).toMatchObject({ rate: null, events: true, maxPending: 7 });
    expect(await schedules()).toEqual(["own"]);
  });

  it("gives its defaults to the tasks of its schedules; counts null as left out", async () => {
    expect((await declare({ settings: { rate: null } })).body).toMatchObject({ status: "unchanged" });
    const schedule = { name: "s", every: "1h", payload: 1 };
    await declare({ schedules: [schedule], defaults: { maxAttempts: 3, resultTtl: "2h" } });
    const options = { maxAttempts: 3, resultTtl: 7_200_000 };
    expect((await ask("GET", `${path()}/schedules/s`)).body).toMatchObject(options);
  });

  it("is refused if a schedule has neither cron nor every, or a wrong cron", async () => {
    for (const recurrence of [{}, { cron: "every day" }, { cron: "* * * * *", every: "1h" }]) {
      expectProblem(
        await declare({ settings: { maxWorking: 3 }, schedules: [{ name: "s", payload: 1, ...recurrence }] }),
        "invalid_request",
      );
    }
    expect(await schedules()).toEqual([]);
    expect(await settings()).toMatchObject({ maxWorking: null });
  });
});
