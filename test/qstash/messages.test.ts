import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

// Messages that are not delivered yet: read, listed and cancelled.
const rig = useQStash();

const later = (path: string, more: object = {}) =>
  rig.client.publish({ url: rig.url + path, delay: 3_600, ...more });

const list = async (query: string) => {
  const response = await rig.request("GET", `/v2/messages?${query}`);
  return (await response.json()) as { messages: { messageId: string; url: string }[]; cursor?: string };
};

const missing = (messageId: string) => ({
  status: 404,
  message: `{"error":"message ${messageId} not found"}`,
});

test("a message is cancelled by its id, and is gone then", async () => {
  const { messageId } = await later("/one");
  expect(await rig.client.messages.get(messageId)).toMatchObject({ messageId, url: `${rig.url}/one` });
  expect(await rig.client.messages.cancel(messageId)).toEqual({ cancelled: 1 });
  await expect(rig.client.messages.get(messageId)).rejects.toMatchObject(missing(messageId));
  // The same call again, as after a lost response, has the same answer.
  expect(await rig.client.messages.cancel(messageId)).toEqual({ cancelled: 1 });
  await expect(rig.client.messages.cancel("msg_m0")).rejects.toMatchObject(missing("msg_m0"));
  for (const unknown of ["msg_x", "msg_m0", "qstash"])
    await expect(rig.client.messages.get(unknown)).rejects.toMatchObject(missing(unknown));
});

test("a message that was delivered is gone, too", async () => {
  const { messageId } = await rig.client.publish({ url: `${rig.url}/delivered` });
  await rig.requestsTo("/delivered");
  await expect.poll(() => rig.client.messages.get(messageId).catch(({ status }) => status)).toBe(404);
});

test("messages are cancelled by their ids, of URLs and of queues", async () => {
  const ids = [
    (await later("/many")).messageId,
    (await rig.client.queue({ queueName: "many" }).enqueue({ url: rig.url, delay: 3_600 })).messageId,
  ];
  const ofQStash = "msg_26hZCxZCuWyyTWPmSVBrNC1RADwpgWxPcak2rQD51EMjFMuzcW7qYXpPiDyw8Gd";
  expect(await rig.client.messages.cancel([...ids, "msg_m0", ofQStash])).toEqual({ cancelled: 2 });
  expect(await rig.client.messages.deleteMany(["msg_q0"])).toBe(0);
  expect(await rig.client.messages.cancel([])).toEqual({ cancelled: 0 });
});

test("messages are listed and cancelled by filters; each filter takes several values", async () => {
  const labelled = await later("/filters/a", { label: ["red", "blue"] });
  await later("/filters/b", { label: "blue" });
  const limited = await later("/filters/b", { flowControl: { key: "filters", rate: 1 } });
  const queued = await rig.client.queue({ queueName: "filters" }).enqueue({ url: rig.url, delay: 3_600 });
  const ids = async (query: string) => (await list(query)).messages.map(({ messageId }) => messageId);
  expect(await ids("label=red")).toEqual([labelled.messageId]);
  expect(await ids("label=red&label=blue")).toHaveLength(2);
  expect(await ids("label=red,blue&callerIP=192.0.2.1,192.0.2.2")).toEqual([]);
  expect(await ids("label=red,blue")).toHaveLength(2);
  expect(await ids("path=/filters/b&flowControlKey=filters")).toEqual([limited.messageId]);
  expect(await ids("queueName=filters")).toEqual([queued.messageId]);
  expect(await ids(`fromDate=${Date.now() + 60_000}`)).toEqual([]);

  const { messages } = rig.client;
  expect(
    await messages.cancel({ filter: { url: [`${rig.url}/filters/a`, "https://x"], label: "green" } }),
  ).toEqual({ cancelled: 0 });
  expect(await messages.cancel({ filter: { label: ["red", "blue"] } })).toEqual({ cancelled: 2 });
  expect(await messages.cancel({ filter: { queueName: "filters" } })).toEqual({ cancelled: 1 });
  const host = new URL(rig.url).host;
  expect(await messages.cancel({ filter: { host, path: "/filters/b" } })).toEqual({ cancelled: 1 });
  await expect(messages.cancel({ filter: { colour: "red" } as never })).rejects.toMatchObject({
    status: 400,
    message: '{"error":"the filter colour is not supported by this server"}',
  });
});

test("a list has pages, and all messages are cancelled at once", async () => {
  await rig.client.messages.cancel({ all: true });
  const published = (await rig.client.batch(
    Array.from({ length: 5 }, (_, i) => ({
      url: `${rig.url}/pages`,
      delay: 3_600,
      ...(i > 2 && { queueName: "pages" }),
    })),
  )) as { messageId: string }[];
  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await list(`count=2${cursor === undefined ? "" : `&cursor=${encodeURIComponent(cursor)}`}`);
    expect(page.messages.length).toBeLessThanOrEqual(2);
    seen.push(...page.messages.map(({ messageId }) => messageId));
    cursor = page.cursor;
  } while (cursor !== undefined);
  expect(seen.toSorted()).toEqual(published.map(({ messageId }) => messageId).toSorted());
  expect(await rig.client.messages.deleteAll()).toBe(5);
  expect(await list("")).toEqual({ messages: [] });
});
