// The dead letter queue of QStash, with its own client.
import { beforeEach, expect, test } from "vitest";
import { useQStash } from "./rig.ts";

const rig = useQStash();

let status: number;
beforeEach(() => {
  status = 500;
  rig.answer = ({ path, body }) =>
    path === "/callback" ? {} : { status, headers: { "x-why": "broken" }, body: `no ${body}` };
});

const list = (options: Parameters<typeof rig.client.dlq.listMessages>[0] = {}) =>
  rig.client.dlq.listMessages(options);

/** Publishes messages that die at their only attempt, one after the other. */
async function die(
  ...messages: readonly { readonly queueName?: string; readonly [option: string]: unknown }[]
) {
  const ids: string[] = [];
  for (const { queueName, ...rest } of messages) {
    const request = { url: `${rig.url}/dead`, retries: 0, ...rest };
    const to = queueName === undefined ? rig.client : rig.client.queue({ queueName });
    const { messageId } = await ("publish" in to ? to.publish(request) : to.enqueue(request));
    await expect
      .poll(async () => (await list({ dlqIds: [messageId] })).messages.length, {
        timeout: 10_000,
        interval: 10,
      })
      .toBe(1);
    ids.push(messageId);
  }
  return ids as [string, ...string[]];
}

test("a dead message is read, retried, and then delivered", async () => {
  const [id] = await die({ body: "17", label: "bill", callback: `${rig.url}/callback` });
  const dead = {
    messageId: id,
    dlqId: id,
    url: `${rig.url}/dead`,
    body: "17",
    label: "bill",
    labels: ["bill"],
    maxRetries: 0,
    responseStatus: 500,
    responseHeader: expect.objectContaining({ "x-why": ["broken"] }),
    responseBody: "no 17",
  };
  const response = await rig.request("GET", `/v2/dlq/${id}`);
  expect(await response.json()).toMatchObject(dead);
  expect((await list({ dlqIds: [id] })).messages).toMatchObject([dead]);

  status = 200;
  expect(await rig.client.dlq.retry(id)).toEqual({ responses: [{ messageId: id }] });
  await rig.requestsTo("/dead", 2);
  await expect.poll(async () => (await list({ dlqIds: [id] })).messages).toEqual([]);
  // A message that was delivered is no dead letter.
  await expect(rig.client.dlq.retry(id)).rejects.toMatchObject({ status: 404 });
  await expect(rig.client.dlq.delete(id)).rejects.toMatchObject({ status: 404 });
  expect((await rig.request("GET", `/v2/dlq/${id}`)).status).toBe(404);
});

test("those of both queues are one list, the last one first, in pages", async () => {
  const ids = await die({}, { queueName: "in-order" }, { label: "x" }, { queueName: "in-order" }, {});
  const pages: string[][] = [];
  let cursor: string | undefined;
  do {
    const page = await list({ count: 2, ...(cursor !== undefined && { cursor }) });
    pages.push(page.messages.map(({ messageId }) => messageId));
    cursor = page.cursor;
  } while (cursor);
  const newest = ids.toReversed();
  expect(pages).toEqual([newest.slice(0, 2), newest.slice(2, 4), newest.slice(4)]);
  const oldest = await rig.request("GET", "/v2/dlq?order=earliestFirst&count=1");
  expect(await oldest.json()).toMatchObject({
    messages: [{ messageId: ids[0] }],
    cursor: expect.any(String),
  });

  const ofQStash = "1725323658779-0";
  expect(await rig.client.dlq.delete({ dlqIds: [...ids.slice(0, 2), ofQStash] })).toEqual({ deleted: 2 });
  // Pages of a list that is deleted meanwhile.
  let deleted = 0;
  do {
    const page = await rig.client.dlq.delete({
      all: true,
      count: 2,
      ...(cursor !== undefined && { cursor }),
    });
    deleted += page.deleted;
    cursor = page.cursor;
  } while (cursor);
  expect([deleted, (await list()).messages]).toEqual([3, []]);
});

test("dead messages are chosen by filters, of which all must match", async () => {
  const [red, queued, limited] = await die(
    { label: ["red", "blue"], body: "1" },
    { queueName: "chosen", label: "blue" },
    { flowControl: { key: "chosen", parallelism: 1 }, url: `${rig.url}/elsewhere` },
  );
  const chosen = async (filter: object) =>
    (await list({ filter })).messages.map(({ messageId }) => messageId).toReversed();
  expect(await chosen({ label: "blue" })).toEqual([red, queued]);
  expect(await chosen({ label: ["red", "blue"], queueName: "chosen" })).toEqual([queued]);
  expect(await chosen({ flowControlKey: "chosen" })).toEqual([limited]);
  expect(await chosen({ url: `${rig.url}/elsewhere` })).toEqual([limited]);
  expect(await chosen({ messageId: red })).toEqual([red]);
  expect(await chosen({ responseStatus: [500, 502] })).toHaveLength(3);
  expect(await chosen({ responseStatus: 404 })).toEqual([]);
  expect(await chosen({ toDate: Date.now() - 3_600_000 })).toEqual([]);
  expect(await chosen({ fromDate: new Date(Date.now() - 3_600_000), urlGroup: "none" })).toEqual([]);
  await expect(chosen({ host: "127.0.0.1" })).rejects.toMatchObject({ status: 400 });

  status = 200;
  const retried = await rig.client.dlq.retry({ filter: { label: "blue" } });
  expect(new Set(retried.responses.map(({ messageId }) => messageId))).toEqual(new Set([red, queued]));
  await rig.requestsTo("/dead", 4);
  expect(await rig.client.dlq.delete({ filter: { flowControlKey: "chosen" } })).toEqual({ deleted: 1 });
  expect((await list()).messages).toEqual([]);
});

test("what would change all dead letters by mistake, or their settings, is refused", async () => {
  const status = async (method: string, path: string, headers = {}) =>
    (await rig.request(method, path, { headers })).status;
  expect(await status("DELETE", "/v2/dlq")).toBe(400);
  expect(await status("POST", "/v2/dlq/retry")).toBe(400);
  expect(await status("DELETE", "/v2/dlq?labels=typo")).toBe(400);
  expect(await status("GET", "/v2/dlq?cursor=nonsense")).toBe(400);
  expect(await status("POST", "/v2/dlq/retry/msg_m1", { "upstash-retries": "0" })).toBe(501);
});
