// The logs of QStash, with its own client.
import { expect, test } from "vitest";
import { useQStash } from "./rig.ts";

const rig = useQStash();

const statesOf = async (messageId: string) =>
  (await rig.client.logs({ messageIds: [messageId] })).logs.map(({ state }) => state);
const ended = (messageId: string, state: string) =>
  expect.poll(() => statesOf(messageId), { timeout: 10_000, interval: 10 }).toContain(state);

test("the log of a message says what has happened to it, the last first", async () => {
  let answers = [503, 200];
  rig.answer = () => ({ status: answers.shift() ?? 500, body: "an answer" });
  const request = { url: `${rig.url}/logged?x=1`, body: "17", retryDelay: "0", label: ["a", "b"] };
  const { messageId } = await rig.client.publish(request);
  await ended(messageId, "DELIVERED");
  expect(await statesOf(messageId)).toEqual(["DELIVERED", "ACTIVE", "RETRY", "ERROR", "ACTIVE", "CREATED"]);
  const { logs } = await rig.client.logs({ messageIds: [messageId] });
  for (const log of logs) expect(log).toMatchObject({ messageId, url: request.url, labels: ["a", "b"] });
  expect(logs[3]).toMatchObject({ error: expect.stringContaining("answered 503") });

  answers = [500];
  const failing = { ...request, retries: 0, body: "18", headers: { "x-own": "1" } };
  const { messageId: dead } = await rig.client.publish(failing);
  await ended(dead, "FAILED");
  const { events } = await rig.client.events({ filter: { messageId: dead } });
  expect(events.map(({ state }) => state)).toEqual(["FAILED", "ERROR", "ACTIVE", "CREATED"]);
  expect(events[1]).toMatchObject({
    body: btoa("18"),
    header: { "x-own": ["1"] },
    responseStatus: 500,
    responseBody: btoa("an answer"),
  });

  const later = await rig.client.publish({ ...request, delay: 3_600 });
  await rig.client.messages.cancel(later.messageId);
  expect(await statesOf(later.messageId)).toEqual(["CANCELED", "CREATED"]);
  expect((await rig.client.logs({ messageIds: ["msg_m0", "none"] })).logs).toEqual([]);
});

test("logs are chosen by filters, in pages of messages", async () => {
  const urls = Array.from({ length: 3 }, (_, i) => `${rig.url}/pages/${i}`);
  const published = await Promise.all(urls.map((url) => rig.client.publish({ url, label: "pages" })));
  const ids = published.map(({ messageId }) => messageId);
  const waiting = await rig.client.queue({ queueName: "pages" }).enqueue({ url: rig.url, delay: 3_600 });
  for (const id of ids) await ended(id, "DELIVERED");

  const chosen = async (filter: object) => {
    const { logs } = await rig.client.logs({ filter });
    return logs.map(({ messageId }) => messageId);
  };
  expect((await chosen({ label: "pages", state: "DELIVERED" })).toSorted()).toEqual(ids.toSorted());
  expect(await chosen({ path: "/pages/1", state: "CREATED" })).toEqual([ids[1]]);
  expect(await chosen({ queueName: "pages" })).toEqual([waiting.messageId]);
  expect(await chosen({ url: urls, fromDate: Date.now() + 60_000 })).toEqual([]);
  expect(await chosen({ label: "pages", state: "IN_PROGRESS" })).toEqual([]);
  await expect(chosen({ state: "LOST" })).rejects.toMatchObject({ status: 400 });

  const seen: string[] = [];
  let cursor: string | undefined;
  do {
    const filter = { state: "DELIVERED" as const, label: "pages" };
    const page = await rig.client.logs({ count: 1, filter, ...(cursor && { cursor }) });
    expect(page.logs.length).toBeLessThanOrEqual(1);
    seen.push(...page.logs.map(({ messageId }) => messageId));
    cursor = page.cursor;
  } while (cursor);
  expect(seen.toSorted()).toEqual(ids.toSorted());
});
