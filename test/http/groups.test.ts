import { describe, expect, it } from "vitest";
import { expectProblem, servedQueue } from "./served.ts";

const { ask, queue, path, enqueue } = servedQueue();

describe("GET /v1/queues/:queue/groups", () => {
  it("lists the groups with waiting tasks, each as its own route has it", async () => {
    await ask("PATCH", `${path()}/groups/b`, { json: { weight: 2, maxWorking: 1 } });
    await enqueue({ tasks: ["b", "b", "a", "c%"].map((group) => ({ payload: 1, group })) });
    const { status, body } = await ask("GET", `${path()}/groups`);
    const own = ["a", "b", "c%25"].map(async (name) => (await ask("GET", `${path()}/groups/${name}`)).body);
    expect([status, body]).toEqual([200, { groups: await Promise.all(own), cursor: null }]);
    expect(body.groups[1]).toEqual({
      queue: queue(),
      group: "b",
      weight: 2,
      maxWorking: 1,
      rate: null,
      ready: 1,
      working: 0,
      limited: 1,
    });
  });

  it("comes in pages", async () => {
    await enqueue({ tasks: ["a", "a!", "z"].map((group) => ({ payload: 1, group })) });
    const names: string[][] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const from: string = cursor === "" ? "" : `&cursor=${encodeURIComponent(cursor)}`;
      const { body } = await ask("GET", `${path()}/groups?size=2${from}`);
      names.push(body.groups.map(({ group }: { group: string }) => group));
      cursor = body.cursor;
    }
    expect(names).toEqual([["a", "a!"], ["z"]]);
  });

  it("refuses a cursor that it did not return", async () => {
    const { detail } = expectProblem(await ask("GET", `${path()}/groups?cursor=7`), "invalid_request");
    expect(detail).toContain("cursor must be the cursor of an earlier call");
  });
});
