import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Caller, serve } from "./served.ts";

// What holders of a token can see, as SECURITY.md says.
let served: Awaited<ReturnType<typeof serve>>;
const PAYLOAD = "a-payload-4711";
/** The part of a receipt before the id. */
let leaseToken: string;

beforeAll(async () => {
  served = await serve();
  const tasks = ["working", "waiting", "done"].map((id) => ({ id, payload: PAYLOAD }));
  await served.ask("POST", "/v1/queues/q/tasks", { json: { tasks } });
  const pull = { max: 3, worker: { name: "w" } };
  const { body } = await served.ask("POST", "/v1/queues/q/tasks/pull", { json: pull });
  const receipts = body.tasks.map(({ receipt }: { receipt: string }) => receipt);
  leaseToken = receipts[0].split(".")[3];
  const settlements = [
    { receipt: receipts[1], outcome: "requeue", error: "an-error" },
    { receipt: receipts[2], outcome: "complete", result: "a-result" },
  ];
  await served.ask("POST", "/v1/queues/q/tasks/settle", { json: { settlements } });
  await served.ask("PUT", "/v1/queues/q/schedules/s", { json: { every: "1h", payload: 1 } });
});
afterAll(() => served.stop());

/** Calls every route that shows anything. Returns the text of all answers. */
async function seenBy(as: Caller): Promise<{ reported: number; text: string }> {
  const paths = served.app.routes
    .filter(({ method, path }) => method === "GET" && path.startsWith("/v1/") && !path.endsWith("/events"))
    .flatMap(({ path }) =>
      ["working", "waiting", "done"].map((id) =>
        path.replace(":queue", "q").replace(":id", id).replace(":name", "s"),
      ),
    );
  const states = ["pending", "working", "completed"].map(
    (state) => `/v1/queues/q/tasks?state=${state}&payloads=true`,
  );
  const answers = await Promise.all(
    [...new Set([...paths, ...states])].map((path) => served.ask("GET", path, { as })),
  );
  const reported = answers.filter(({ status }) => status === 200);
  return { reported: reported.length, text: JSON.stringify(reported.map(({ body }) => body)) };
}

describe("what a token shows", () => {
  test("only the consumer that pulled a task is shown its lease token, whatever the scope", async () => {
    expect(leaseToken).toMatch(/^\w{16}$/);
    const { reported, text } = await seenBy("all");
    expect(reported).toBeGreaterThan(10);
    expect(text).not.toContain(leaseToken);
    // They were shown what they may see.
    for (const shown of [PAYLOAD, "a-result", "an-error"]) expect(text).toContain(shown);
  });

  test("for enqueueing: results and errors of tasks whose id is known, and no payload", async () => {
    const { reported, text } = await seenBy("enqueue");
    // The three tasks, and what the token may do.
    expect(reported).toBe(4);
    expect(text).not.toContain(PAYLOAD);
    for (const shown of ["a-result", "an-error"]) expect(text).toContain(shown);
    const withPayload = "/v1/queues/q/tasks/working?payload=true";
    expect((await served.ask("GET", withPayload, { as: "enqueue" })).status).toBe(403);
  });

  test("for looking: all that admin shows", async () => {
    const { reported, text } = await seenBy("view");
    expect(reported).toBe((await seenBy("admin")).reported);
    for (const shown of [PAYLOAD, "a-result", "an-error"]) expect(text).toContain(shown);
  });

  test("for consuming, and the cron secret: nothing but what is pulled, and what the token may do", async () => {
    const own = [{ grants: [{ scopes: ["consume"], queues: "*" }] }];
    expect(await seenBy("consume")).toEqual({ reported: 1, text: JSON.stringify(own) });
    const { reported, text } = await seenBy("cron");
    // The sweep, which returns counts.
    expect(reported).toBe(1);
    expect(text).not.toMatch(/a-payload|a-result|an-error|working/);
  });

  test("a consumer without the receipt ends no lease of another, nor gets the task", async () => {
    const receipt = `1.1.1.${"x".repeat(16)}.working`;
    const settlements = ["complete", "reject", "requeue", "extend"].map((outcome) => ({ receipt, outcome }));
    const before = (await served.ask("GET", "/v1/queues/q/tasks/working")).body;
    const post = async (path: string, json: unknown) =>
      (await served.ask("POST", `/v1/queues/q/tasks/${path}`, { as: "consume", json })).body;
    const lost = { receipt, ok: false, code: "lease_lost" };
    expect((await post("settle", { settlements })).results).toEqual([lost, lost, lost, lost]);
    const body = await post("pull", { max: 9 });
    expect(body.tasks.map(({ id }: { id: string }) => id)).toEqual(["waiting"]);
    expect((await served.ask("GET", "/v1/queues/q/tasks/working")).body).toEqual(before);
  });
});
