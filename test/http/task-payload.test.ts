import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, tasks, enqueue, receipts, settle } = servedQueue();

const read = (id: string, query = "", as: "all" | "enqueue" | "admin" = "all") =>
  ask("GET", `${tasks()}/${id}${query}`, { as });

describe("a task with its payload", () => {
  it("has payload and options, if the payload is kept", async () => {
    await enqueue({
      tasks: [
        { id: "json", payload: { to: "a" }, maxAttempts: 3, lease: "1m", headers: { trace: "t" } },
        { id: "bytes", payload: "AAEC/w==", encoding: "base64" },
        { id: "null", payload: null },
      ],
    });
    expect((await read("json", "?payload=true")).body).toMatchObject({
      payload: { to: "a" },
      options: { maxAttempts: 3, lease: 60_000 },
      headers: { trace: "t" },
    });
    expect((await read("bytes", "?payload=true")).body).toMatchObject({
      payload: "AAEC/w==",
      payloadEncoding: "base64",
    });
    expect((await read("null", "?payload=true")).body).toMatchObject({ payload: null });
    const [first] = await receipts();
    await settle({ receipt: first, outcome: "complete" });
    expect((await read("json", "?payload=true")).body).not.toHaveProperty("payload");
  });

  it("is not shown without being asked, nor to a token without the scope view", async () => {
    await enqueue({ id: "a", payload: "secret" });
    expect(JSON.stringify((await read("a")).body)).not.toContain("secret");
    expect(JSON.stringify((await read("a", "?payload=false")).body)).not.toContain("secret");
    expectProblem(await read("a", "?payload=true", "enqueue"), "forbidden");
    expectProblem(await read("nope", "?payload=true"), "not_found");
  });

  it("is shown to a token with the scope admin alone, as in a list", async () => {
    await enqueue({ id: "a", payload: 1 });
    expect((await read("a", "?payload=true", "admin")).body).toMatchObject({ payload: 1 });
    expect((await read("a", "", "admin")).body).toMatchObject({ state: "pending" });
  });

  it("can be waited for; a stream has no payload", async () => {
    await enqueue({ id: "a", payload: "secret" });
    expect((await read("a", "?payload=true&wait=10ms")).body).toMatchObject({ payload: "secret" });
    const headers = { accept: "text/event-stream" };
    const stream = await ask("GET", `${tasks()}/a?payload=true&wait=10ms`, { headers });
    expect([stream.status, JSON.stringify(stream.body).includes("secret")]).toEqual([200, false]);
  });
});
