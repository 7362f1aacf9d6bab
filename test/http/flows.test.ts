import { beforeEach, describe, expect, it } from "vitest";
import { expectProblem, useServed } from "./served.ts";

const served = useServed();
const { ask } = served;
beforeEach(async () => {
  await served.transport.send([["FLUSHALL"]]);
});

const nightly = {
  id: "nightly",
  tasks: [
    { ref: "mail", queue: "mails-b", payload: 3, after: ["rows", { ref: "audit", on: "ended" }] },
    { ref: "fetch", queue: "mails-a", payload: 1, maxAttempts: 3 },
    {
      ref: "rows",
      flow: [{ ref: "1", queue: "mails-b", payload: "AAEC", encoding: "base64" }],
      after: "fetch",
    },
    { ref: "audit", queue: "mails-a", payload: null },
  ],
};

const add = (json: unknown = nightly, options: object = {}) => ask("POST", "/v1/flows", { json, ...options });
const pulled = async (queue: string) =>
  (await ask("POST", `/v1/queues/${queue}/tasks/pull`, { json: { max: 10 } })).body.tasks;

describe("POST /v1/flows", () => {
  it("adds a flow over several queues: 201, and 200 for one that is known", async () => {
    const { status, body, headers } = await add(nightly, { as: "mails" });
    expect([status, body]).toEqual([
      201,
      {
        id: "nightly@mails-a",
        created: true,
        tasks: expect.objectContaining({ mail: expect.stringMatching(/^\d+\{nightly@mails-a\}$/) }),
      },
    ]);
    expect(Object.keys(body.tasks).toSorted()).toEqual(["audit", "fetch", "mail", "rows/1"]);
    expect(headers.get("location")).toBe("flows/nightly%40mails-a");
    const again = await add();
    expect([again.status, again.body]).toEqual([200, { ...body, created: false }]);
    const tasks = await pulled("mails-a");
    expect(tasks.map(({ payload }: { payload: unknown }) => payload).toSorted()).toEqual([1, null]);
    expect(await pulled("mails-b")).toEqual([]);
  });
});
