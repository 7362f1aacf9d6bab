import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

// Who may call, and the form of errors.
const rig = useQStash();

test("a caller needs the token", async () => {
  for (const token of ["qstash-0123456789abcdeF", ""]) {
    const caller = rig.clientOf(token);
    await expect(caller.publish({ url: rig.url })).rejects.toMatchObject({
      name: "QstashError",
      status: 401,
      message: '{"error":"invalid token"}',
    });
  }
  const query = await rig.request("GET", "/v2/topics", { headers: { authorization: "" } });
  expect(query.status).toBe(401);
});

test("what the dialect does not have is named", async () => {
  await expect(rig.client.workflow.cancel("wfr_1")).rejects.toMatchObject({
    status: 501,
    message: expect.stringContaining("Upstash Workflow is not supported by this server"),
  });
  await expect(
    rig.client.publishJSON({ api: { name: "llm" }, callback: rig.url, body: {} } as never),
  ).rejects.toThrow("the destination api/llm is not supported");
  const unknown = await rig.request("GET", "/v2/unknown");
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { error: "GET /v2/unknown is not a route of QStash that this server has" },
  ]);
});
