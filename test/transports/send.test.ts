import { describe, expect, test } from "vitest";

import { keyLocking, type Command } from "../../src/kernel/transport.ts";
import { realTiming, Transient } from "../../src/retry.ts";
import { sender, type ExchangeResult } from "../../src/transports/send.ts";
import { script } from "./script.ts";

const give = script("give", "return ARGV[1]");
const take = script("take", "return ARGV[2]");
const noScript: ExchangeResult = { redisError: "NOSCRIPT No matching script. Please use EVAL." };
const loading: ExchangeResult = { redisError: "LOADING Redis is loading the dataset in memory" };
const lost: ExchangeResult = { lost: "a network error" };
const reply = (value: string): ExchangeResult => ({ reply: value });

/** A wire that answers its n-th request with the n-th of `answers` and keeps the requests. */
function wire(
  answers: readonly (readonly ExchangeResult[] | Error)[],
  options: { keyLocking?: boolean } = {},
) {
  const sent: (readonly string[])[][] = [];
  const waits: number[] = [];
  const send = sender(
    async (commands) => {
      sent.push([...commands]);
      const answer = answers[sent.length - 1] ?? new Error("one request too many");
      if (answer instanceof Error) throw answer;
      return answer;
    },
    {
      keyLocking: options.keyLocking ?? false,
      retry: { tries: 3 },
      timing: { ...realTiming, random: () => 1, sleep: async (ms) => void waits.push(ms) },
    },
  );
  return { send, sent, waits };
}

const call: Command = { script: give, keys: ["k"], args: ["first", "1"], resendArgs: ["again", "1"] };

describe("a script that Redis does not know", () => {
  test("is sent again with its body, at once, and is no resend; with key locking in the variant that locks its keys", async () => {
    const { send, sent, waits } = wire([[noScript], [reply("a")]], { keyLocking: true });
    expect([await send([call]), waits]).toEqual([[{ reply: "a" }], []]);
    expect(sent).toEqual([
      [["EVALSHA", give.keyLockingSha1, "1", "k", "first", "1"]],
      [["EVAL", keyLocking + give.source, "1", "k", "first", "1"]],
    ]);
  });

  test("is sent again only with others like it, in order", async () => {
    const { send, sent } = wire([
      [noScript, reply("b"), noScript, reply("d")],
      [reply("a"), reply("c")],
    ]);
    const other: Command = { script: take, keys: [], args: ["x"] };
    expect(await send([call, call, other, ["PING"]])).toEqual(
      ["a", "b", "c", "d"].map((value) => ({ reply: value })),
    );
    expect(sent[1]).toEqual([
      ["EVAL", give.source, "1", "k", "first", "1"],
      ["EVAL", take.source, "0", "x"],
    ]);
  });

  test("waits with others that are refused for now", async () => {
    const { send, sent, waits } = wire([
      [noScript, loading],
      [reply("a"), reply("b")],
    ]);
    expect(await send([call, call])).toEqual([{ reply: "a" }, { reply: "b" }]);
    expect(sent[1]).toEqual([
      ["EVAL", give.source, "1", "k", "first", "1"],
      ["EVALSHA", give.sha1, "1", "k", "again", "1"],
    ]);
    expect(waits).toEqual([50]);
  });

  test("whose body is not accepted either is an error", async () => {
    const { send, sent } = wire([[noScript], [noScript]]);
    expect(await send([call])).toMatchObject([{ error: { code: "redis_error" } }]);
    expect(sent).toHaveLength(2);
  });

  test("after a lost copy is sent as a resend", async () => {
    const { send, sent } = wire([[lost], [noScript], [reply("a")]]);
    expect(await send([call])).toEqual([{ reply: "a" }]);
    expect(sent.slice(1)).toEqual([
      [["EVALSHA", give.sha1, "1", "k", "again", "1"]],
      [["EVAL", give.source, "1", "k", "again", "1"]],
    ]);
  });

  test("and whose body was lost is sent with its body, as a resend", async () => {
    const { send, sent } = wire([[noScript], new Transient("a network error"), [reply("a")]]);
    expect(await send([call])).toEqual([{ reply: "a" }]);
    expect(sent[2]).toEqual([["EVAL", give.source, "1", "k", "again", "1"]]);
  });
});

describe("a resend", () => {
  test("says that it is one, every time", async () => {
    const { send, sent, waits } = wire([new Transient("a network error"), [loading], [reply("a")]]);
    expect(await send([call])).toEqual([{ reply: "a" }]);
    expect(sent.slice(1)).toEqual([
      [["EVALSHA", give.sha1, "1", "k", "again", "1"]],
      [["EVALSHA", give.sha1, "1", "k", "again", "1"]],
    ]);
    expect(waits).toEqual([50, 100]);
  });

  test("without arguments of its own repeats the request", async () => {
    const { send, sent } = wire([[lost], [reply("a")]]);
    await send([{ script: give, keys: [], args: ["x"] }]);
    expect(sent[1]).toEqual(sent[0]);
  });

  test("holds only the commands that have no answer yet", async () => {
    const { send, sent } = wire([
      [reply("a"), loading, { redisError: "ERR no" }, lost],
      [reply("b"), reply("d")],
    ]);
    const outcomes = await send([["GET", "a"], call, ["GET", "c"], ["GET", "d"]]);
    expect(outcomes).toMatchObject([
      { reply: "a" },
      { reply: "b" },
      { error: { code: "redis_error", message: "Redis refused the command: ERR no" } },
      { reply: "d" },
    ]);
    expect(sent[1]).toEqual([
      ["EVALSHA", give.sha1, "1", "k", "again", "1"],
      ["GET", "d"],
    ]);
  });

  test("that never succeeds keeps the answers that there are", async () => {
    const { send } = wire([[reply("a"), lost], [lost], [lost]]);
    expect(await send([["GET", "a"], call])).toMatchObject([
      { reply: "a" },
      { error: { code: "redis_unreachable" } },
    ]);
  });
});

test("an abort rejects even if some commands have their answers", async () => {
  const controller = new AbortController();
  const send = sender(
    async () => {
      queueMicrotask(() => controller.abort());
      return [reply("a"), lost];
    },
    { keyLocking: false, retry: undefined },
  );
  const sending = send([["GET", "a"], call], { signal: controller.signal });
  await expect(sending).rejects.toMatchObject({ code: "aborted" });
});

test("a reply with too few answers is sent for again", async () => {
  const { send, sent } = wire([[reply("a")], [reply("b")]]);
  expect(
    await send([
      ["GET", "a"],
      ["GET", "b"],
    ]),
  ).toEqual([{ reply: "a" }, { reply: "b" }]);
  expect(sent[1]).toEqual([["GET", "b"]]);
});
