import { upstash } from "@upstash/qstash";
import { expect, test } from "vitest";
import { SIGNING_KEYS, useQStash } from "./rig.ts";

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
  expect((await rig.request("GET", "/v1/queues/qstash/tasks/1")).status).toBe(503);
});

test("what the dialect does not have is named, with what to use in its place", async () => {
  const refused = (words: string) =>
    expect.objectContaining({ status: 501, message: expect.stringContaining(words) });
  await expect(rig.client.workflow.cancel("wfr_1")).rejects.toEqual(
    refused("Upstash Workflow is not supported by this server"),
  );
  const chat = { provider: upstash(), model: "mistralai/Mistral-7B-Instruct-v0.2" } as const;
  await expect(rig.client.chat().prompt({ ...chat, system: "s", user: "u" })).rejects.toEqual(
    refused("Upstash-Forward-Authorization"),
  );
  await expect(
    rig.client.publishJSON({ api: { name: "llm" }, callback: rig.url, body: {} } as never),
  ).rejects.toThrow("the destination api/llm is not supported");
  const ofWorkflow = { "Upstash-Workflow-RunId": "wfr_1" };
  await expect(rig.client.publish({ url: rig.url, headers: ofWorkflow })).rejects.toEqual(
    refused("upstash-workflow-runid"),
  );
  const forwarding = rig.client.publish({ url: rig.url, headers: { "Upstash-Header-Forward": "true" } });
  await expect(forwarding).rejects.toEqual(refused("name each header"));
  for (const name of ["qstash_token", "upstash-retries"]) {
    const inQuery = await rig.request("POST", `/v2/publish/${rig.url}?of=1&${name}=3`);
    expect([inQuery.status, await inQuery.text()]).toEqual([501, expect.stringContaining(name)]);
  }
  expect((await rig.request("POST", "/v2/notify/event-1")).status).toBe(501);
  const unknown = await rig.request("GET", "/v2/unknown");
  expect([unknown.status, await unknown.json()]).toEqual([
    404,
    { error: "GET /v2/unknown is not a route of QStash that this server has" },
  ]);
});

test("the signing keys are those of the options, which alone change them", async () => {
  const keys = await rig.request("GET", "/v2/keys");
  expect(await keys.json()).toEqual({ current: SIGNING_KEYS[0], next: SIGNING_KEYS[1] });
  const rotated = await rig.request("POST", "/v2/keys/rotate");
  expect([rotated.status, await rotated.text()]).toEqual([
    501,
    expect.stringContaining("qstash.signingKeys"),
  ]);
});
