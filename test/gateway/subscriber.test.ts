import { Redis } from "@upstash/redis";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { untilConnections } from "./event-stream.ts";
import { readOnlyToken, type Stack, startStack, token } from "./stack.ts";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());
beforeEach(() => untilConnections(stack, 2));

const client = (
  options: { responseEncoding?: false; automaticDeserialization?: boolean; token?: string } = {},
) => new Redis({ url: stack.gateway.url, token, enableTelemetry: false, retry: false, ...options });

type Subscriber = ReturnType<Redis["subscribe"]>;

/** Collects what the subscriber hears of one kind, in order. */
function listen(subscriber: Subscriber, kind: Parameters<Subscriber["on"]>[0]): unknown[] {
  const heard: unknown[] = [];
  subscriber.on(kind, (event: unknown) => heard.push(event));
  return heard;
}

const untilHeard = (heard: unknown[], count: number) =>
  vi.waitUntil(() => heard.length >= count, { timeout: 10_000, interval: 5 });

describe.each([
  ["by default", {}],
  ["without base64", { responseEncoding: false }],
] as const)("the subscriber of the stock @upstash/redis %s", (_, options) => {
  test("hears a channel, until it unsubscribes", async () => {
    const redis = client(options);
    const subscriber = redis.subscribe<unknown>("chat");
    const confirmed = listen(subscriber, "subscribe");
    const messages = listen(subscriber, "message");
    const ofChat = listen(subscriber, "message:chat");
    await untilHeard(confirmed, 1);
    for (const message of ["hello, all", { a: ["b\nc", 1, null], d: "🎉" }, 42, ""]) {
      expect(await redis.publish("chat", message)).toBe(1);
    }
    await untilHeard(messages, 4);
    const expected = ["hello, all", { a: ["b\nc", 1, null], d: "🎉" }, 42, ""].map((message) => ({
      channel: "chat",
      message,
    }));
    expect([confirmed, messages, ofChat]).toEqual([[1], expected, expected]);
    await subscriber.unsubscribe();
    await untilConnections(stack, 2);
    expect(await redis.publish("chat", "unheard")).toBe(0);
    expect(messages).toHaveLength(4);
  });

  test("hears several channels, each on a stream of its own, and leaves one", async () => {
    const redis = client(options);
    const subscriber = redis.subscribe<string>(["a", "b"]);
    const messages = listen(subscriber, "message");
    await untilHeard(listen(subscriber, "subscribe"), 2);
    await untilConnections(stack, 4);
    await redis.publish("a", "1");
    await untilHeard(messages, 1);
    await subscriber.unsubscribe(["a"]);
    await untilConnections(stack, 3);
    expect(subscriber.getSubscribedChannels()).toEqual(["b"]);
    expect(await Promise.all([redis.publish("a", "x"), redis.publish("b", "y")])).toEqual([0, 1]);
    await untilHeard(messages, 2);
    expect(messages).toEqual([
      { channel: "a", message: 1 },
      { channel: "b", message: "y" },
    ]);
    await subscriber.unsubscribe();
  });

  test("hears patterns", async () => {
    const redis = client(options);
    const subscriber = redis.psubscribe<unknown>(["user:*", "room:[ab]"]);
    const messages = listen(subscriber, "pmessage");
    const ofUsers = listen(subscriber, "pmessage:user:*");
    await untilHeard(listen(subscriber, "psubscribe"), 2);
    await redis.publish("user:1", { name: "Ada, Countess" });
    await untilHeard(messages, 1);
    await redis.publish("room:a", [1, 2]);
    await redis.publish("room:c", "none");
    await untilHeard(messages, 2);
    expect(messages).toEqual([
      { pattern: "user:*", channel: "user:1", message: { name: "Ada, Countess" } },
      { pattern: "room:[ab]", channel: "room:a", message: [1, 2] },
    ]);
    expect(ofUsers).toEqual(messages.slice(0, 1));
    await subscriber.unsubscribe();
  });
});

test("messages stay unchanged without automaticDeserialization", async () => {
  const redis = client({ automaticDeserialization: false });
  const subscriber = redis.subscribe("chat");
  const messages = listen(subscriber, "message");
  await untilHeard(listen(subscriber, "subscribe"), 1);
  await redis.publish("chat", "42");
  await redis.publish("chat", '{"a":1}');
  await untilHeard(messages, 2);
  expect(messages).toEqual([
    { channel: "chat", message: "42" },
    { channel: "chat", message: '{"a":1}' },
  ]);
  await subscriber.unsubscribe();
});

test("the client itself hears only the first line of a message of several lines", async () => {
  const redis = client();
  const subscriber = redis.subscribe("chat");
  const messages = listen(subscriber, "message");
  await untilHeard(listen(subscriber, "subscribe"), 1);
  await redis.publish("chat", "first\nsecond");
  await redis.publish("chat", "behind");
  await untilHeard(messages, 2);
  expect(messages).toEqual([
    { channel: "chat", message: "first" },
    { channel: "chat", message: "behind" },
  ]);
  await subscriber.unsubscribe();
});

test("a refusal reaches the subscriber as an error", async () => {
  const subscriber = client({ token: readOnlyToken }).subscribe("chat");
  const errors = listen(subscriber, "error");
  await untilHeard(errors, 1);
  expect(errors).toEqual([expect.objectContaining({ message: expect.stringMatching(/^NOPERM /) })]);
});
