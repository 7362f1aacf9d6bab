import { beforeEach, describe, expect, test } from "vitest";

import { SluiceError } from "../../../src/errors.ts";
import type { Command, Transport } from "../../../src/kernel/transport.ts";
import { inOwnTime, passingAfter, TRY } from "../../support/own-time.ts";
import { startRedis } from "../../support/redis.ts";
import { script } from "../../transports/script.ts";
import { call, reply, store, useTransports } from "./transports.ts";

const { its, networked } = useTransports();

/** Counts its runs and returns which copy it is. */
const counted = script("counted", "return { redis.call('INCR', KEYS[1]), ARGV[1] }");
const payload = "the-secret-payload";
const runs: Command = {
  script: counted,
  keys: ["{q}:runs"],
  args: ["first", payload],
  resendArgs: ["again", payload],
};
const quick = { firstWait: 0, longestWait: 0, tryTimeout: TRY, deadline: 100 * TRY };

async function failure(sending: Promise<unknown>) {
  const error: unknown = await sending.catch((reason: unknown) => reason);
  if (!(error instanceof SluiceError)) throw new Error("expected a SluiceError");
  for (let each: unknown = error; each instanceof Error; each = each.cause)
    expect(`${each.stack} ${JSON.stringify(each)}`).not.toMatch(/the-secret/);
  const { code, message } = error;
  return { code, message };
}

const unreachable = (effort: string, cause: string) => ({
  code: "redis_unreachable",
  message: expect.stringMatching(
    `^Redis(?: at 127\\.0\\.0\\.1:\\d+(?:, 127\\.0\\.0\\.1:\\d+)*)? gave no useful answer in ${effort}; the last time: ${cause}`,
  ) as string,
});

describe.each(networked)("$name", ({ connect, run, lose, refuse, hold, silence, stranger, astray }) => {
  let transport: Transport;
  /** So that a test counts only its own requests: the connection is there, and the script is known. */
  const connected = async (retry = {}) => {
    const one = connect({ ...quick, ...retry });
    await one.send([runs]);
    await run([["DEL", "{q}:runs"]]);
    return one;
  };
  beforeEach(async () => {
    transport = await connected();
  });

  test("a lost reply is requested again, as a resend", async () => {
    lose(1);
    // Both copies ran.
    expect(await transport.send([runs])).toEqual([reply([2, "again"])]);
  });

  test("a reply that is lost each time fails the request, and says why", async () => {
    const trying = await connected({ tries: 3 });
    lose(3);
    const error = await failure(trying.send([runs]));
    expect(error).toEqual(unreachable("3 tries over \\d+ ms", "a network error"));
  });

  test("a reply that is late is requested again, as a resend", async () => {
    const passing = passingAfter(hold(), TRY);
    expect(await inOwnTime(() => transport.send([runs]), passing)).toEqual([reply([2, "again"])]);
  });

  test.each([
    [{ tries: 2 }, "2 tries over \\d+ ms", "no answer within \\d+ ms$"],
    [{ deadline: 5_000 }, "1 try over 5000 ms", "no answer within 5000 ms$"],
  ])(
    "a server that never answers fails the request after its tries, or at the deadline: %o",
    async (retry, effort, cause) => {
      const trying = await connected(retry);
      silence();
      const waiting = inOwnTime(
        () => trying.send([runs]),
        () => TRY / 2,
      );
      expect(await failure(waiting)).toEqual(unreachable(effort, cause));
    },
  );

  test("a port without a server is reported with the system's code", async () => {
    const error = await failure(astray({ ...quick, tries: 2 }).send([runs]));
    expect(error).toEqual(unreachable("2 tries over \\d+ ms", "a network error \\(ECONNREFUSED\\)$"));
  });

  test.each([
    "LOADING Redis is loading the dataset in memory",
    "BUSY Redis is busy running a script.",
    "TRYAGAIN Multiple keys request during rehashing of slot",
    "MASTERDOWN Link with MASTER is down",
    "CLUSTERDOWN The cluster is down",
    "READONLY You can't write against a read only replica.",
  ])("a refusal that may pass is asked again, as a resend: %s", async (error) => {
    refuse(error);
    expect(await transport.send([runs])).toEqual([reply([1, "again"])]);
  });

  test.each([
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "redis_error"],
    ["NOPERM this user has no permissions to run the 'evalsha' command", "redis_unauthorized"],
    ["ERR max requests limit exceeded. Limit: 1, Usage: 1.", "redis_quota"],
    ["OOM command not allowed when used memory > 'maxmemory'.", "queue_full"],
    ["ERR max request size exceeded. Limit: 1 bytes, Actual: 2 bytes.", "too_large"],
  ])("another refusal is the outcome of the command: %s", async (text, code) => {
    refuse(text);
    expect(await transport.send([runs])).toMatchObject([{ error: { code } }]);
    expect(await run([["EXISTS", "{q}:runs"]])).toEqual([reply(0)]);
  });

  test("credentials that are wrong end the request at once, and are not shown", async () => {
    const error = await failure(stranger({ deadline: 1e9, firstWait: 1e9 }).send([runs]));
    expect(error.code).toBe("redis_unauthorized");
  });

  test("a full Redis answers queue_full, and still drains", async () => {
    const [memory] = await run([["CONFIG", "SET", "maxmemory", "1"]]);
    expect(memory).toEqual(reply("OK"));
    try {
      // Redis does not know the script yet, so its body is sent: that is refused in the same words.
      const outcomes = await transport.send([call(store, [payload], ["{q}:k"]), ["DEL", "{q}:k"]]);
      expect(outcomes).toMatchObject([{ error: { code: "queue_full" } }, reply(0)]);
    } finally {
      await run([["CONFIG", "SET", "maxmemory", "0"]]);
    }
  });

  test("a signal that has aborted sends nothing", async () => {
    const { code } = await failure(transport.send([runs], { signal: AbortSignal.abort() }));
    expect([code, await run([["EXISTS", "{q}:runs"]])]).toEqual(["aborted", [reply(0)]]);
  });

  test("a signal that aborts ends its request alone, and nothing more is sent", async () => {
    const controller = new AbortController();
    const held = hold();
    const sending = transport.send([runs], { signal: controller.signal });
    await held;
    const other = transport.send([["ECHO", "other"]]);
    controller.abort();
    expect((await failure(sending)).code).toBe("aborted");
    for (const proxy of [its.proxy, its.owner]) proxy?.release();
    expect(await other).toEqual([reply("other")]);
    expect(await run([["GET", "{q}:runs"]])).toEqual([reply("1")]);
  });
});

// A cluster has replicas: test/transports/resp-cluster-faults.
test.each(networked.slice(0, 2))(
  "$name: a server that restarts loses no request, only its scripts",
  async ({ connect }) => {
    const transport = connect();
    const next = await startRedis();
    try {
      its.proxy.leadTo(next.port);
      its.proxy.breakAll();
      const sends = Array.from({ length: 20 }, (_, index) =>
        transport.send([call(store, [`${index}`], [`{q}:${index}`])]),
      );
      expect(await Promise.all(sends)).toEqual(sends.map((_, index) => [reply(`${index}`)]));
    } finally {
      its.proxy.leadTo(its.redis.port);
      its.proxy.breakAll();
      await next.stop();
    }
  },
);
