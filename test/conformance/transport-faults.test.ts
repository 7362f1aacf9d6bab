import { beforeAll, describe, expect, test } from "vitest";

import type { Command, Transport } from "../../src/queue/redis/transport.ts";
import { upstash } from "../../src/transport/upstash.ts";
import { startRedis } from "../support/redis.ts";
import { call, count, echo, reply, store, useTransports } from "./transports.ts";

const { its, transports, run } = useTransports();

describe.each(transports)("%s", (_, connect) => {
  let transport: Transport;
  beforeAll(() => {
    transport = connect();
  });

  test("a full Redis answers queue_full, and still drains", async () => {
    const [memory] = await run([["CONFIG", "SET", "maxmemory", "1"]]);
    expect(memory).toEqual(reply("OK"));
    try {
      // Redis does not know the script yet, so its body is sent: that is refused in the same words.
      const outcomes = await transport.send([
        call(store, ["the-secret-payload"], ["{q}:k"]),
        ["DEL", "{q}:k"],
      ]);
      expect(outcomes).toMatchObject([{ error: { code: "queue_full" } }, reply(0)]);
    } finally {
      await run([["CONFIG", "SET", "maxmemory", "0"]]);
    }
  });

  test("a server that restarts loses no request, only its scripts", async () => {
    const before = connect();
    await before.send([call(count, [], ["{q}:n"])]);
    const next = await startRedis();
    try {
      its.proxy.leadTo(next.port);
      its.proxy.breakAll();
      const sends = Array.from({ length: 20 }, (_, index) =>
        before.send([call(store, [`${index}`], [`{q}:${index}`])]),
      );
      expect(await Promise.all(sends)).toEqual(sends.map((_, index) => [reply(`${index}`)]));
    } finally {
      its.proxy.leadTo(its.redis.port);
      its.proxy.breakAll();
      await next.stop();
    }
  });

  test("an aborted request rejects, and the transport goes on", async () => {
    // Opens the connection that is then held.
    await transport.send([["ECHO", "x"]]);
    const controller = new AbortController();
    const held = its.proxy.hold();
    const sending = transport.send([["ECHO", "x"]], { signal: controller.signal });
    await held;
    controller.abort();
    await expect(sending).rejects.toMatchObject({ code: "aborted" });
    its.proxy.release();
    expect(await transport.send([["ECHO", "y"]])).toEqual([reply("y")]);
  });
});

describe("through the gateway", () => {
  const twice: Command = { script: echo, keys: [], args: ["first"], resendArgs: ["again"] };
  const quick = { retry: { firstWait: 1, tries: 3 } };

  test.each([
    [{ kind: "lose-reply" }, "again"],
    [{ kind: "cut" }, "again"],
    [{ kind: "cut-body" }, "again"],
    [{ kind: "http", status: 429 }, "again"],
    [{ kind: "http", status: 500 }, "again"],
    [{ kind: "http", status: 502, body: "<h1>Bad Gateway</h1>", contentType: "text/html" }, "again"],
    [{ kind: "noscript" }, "first"],
  ] as const)("%j is survived, and the copy that counts returns %s", async (fault, word) => {
    const transport = upstash(its.gateway, quick);
    await transport.send([twice]);
    const handle = its.gateway.faults.add(fault);
    expect(await transport.send([twice])).toEqual([reply([word])]);
    expect(handle.hits).toBe(1);
    its.gateway.faults.clear();
  });

  test("a used up quota and a wrong token have different errors, and are not sent again", async () => {
    const handle = its.gateway.faults.add({ kind: "quota", match: { times: "always" } });
    expect(await upstash(its.gateway, quick).send([twice])).toMatchObject([
      { error: { code: "redis_quota" } },
    ]);
    expect(handle.hits).toBe(1);
    its.gateway.faults.clear();
    const stranger = upstash({ url: its.gateway.url, token: "another-token" }, quick);
    await expect(stranger.send([twice])).rejects.toMatchObject({ code: "redis_unauthorized" });
  });
});
