import { Redis } from "@upstash/redis";
import { expect, test, vi } from "vitest";
import { IDLE, useStreams } from "./event-stream.ts";
import { readOnlyToken, token } from "./stack.ts";

const { its, untilConnections } = useStreams();

type Options = { responseEncoding?: false; token?: string };
const client = (options: Options = {}) =>
  new Redis({ url: its.stack.gateway.url, token, enableTelemetry: false, retry: false, ...options });

type Subscriber = ReturnType<Redis["subscribe"]>;

/** Collects what the subscriber hears of one kind, in order. */
function listen(subscriber: Subscriber, kind: Parameters<Subscriber["on"]>[0]): unknown[] {
  const heard: unknown[] = [];
  subscriber.on(kind, (event: unknown) => heard.push(event));
  return heard;
}

const untilHeard = (heard: unknown[], count: number) =>
  vi.waitUntil(() => heard.length >= count, { timeout: 20_000, interval: 5 });

test("the stock subscriber hears channels, each on a stream of its own, until it unsubscribes", async () => {
  const redis = client();
  const subscriber = redis.subscribe<unknown>(["chat", "other"]);
  const messages = listen(subscriber, "message");
  await untilHeard(listen(subscriber, "subscribe"), 2);
  await untilConnections(IDLE + 2);
  const sent = ["hello, all", { a: ["b\nc", 1, null], d: "🎉" }, 42, ""];
  for (const message of sent) expect(await redis.publish("chat", message)).toBe(1);
  await untilHeard(messages, 4);
  expect(messages).toEqual(sent.map((message) => ({ channel: "chat", message })));
  await subscriber.unsubscribe(["chat"]);
  await untilConnections(IDLE + 1);
  expect([await redis.publish("chat", "unheard"), await redis.publish("other", "y")]).toEqual([0, 1]);
  await untilHeard(messages, 5);
  expect(messages.slice(4)).toEqual([{ channel: "other", message: "y" }]);
  await subscriber.unsubscribe();
});

test("the stock subscriber hears patterns, also without base64", async () => {
  const redis = client({ responseEncoding: false });
  const subscriber = redis.psubscribe<unknown>(["user:*", "room:[ab]"]);
  const messages = listen(subscriber, "pmessage");
  await untilHeard(listen(subscriber, "psubscribe"), 2);
  await redis.publish("user:1", { name: "Ada, Countess" });
  await untilHeard(messages, 1);
  await redis.publish("room:a", [1, 2]);
  await untilHeard(messages, 2);
  expect(messages).toEqual([
    { pattern: "user:*", channel: "user:1", message: { name: "Ada, Countess" } },
    { pattern: "room:[ab]", channel: "room:a", message: [1, 2] },
  ]);
  await subscriber.unsubscribe();
});

test("a refusal reaches the subscriber as an error", async () => {
  const errors = listen(client({ token: readOnlyToken }).subscribe("chat"), "error");
  await untilHeard(errors, 1);
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/^NOPERM /) })]);
});
