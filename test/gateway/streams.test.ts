import { describe, expect, test } from "vitest";
import { startGateway } from "../../src/local/index.ts";
import { openStream, sse, useStreams } from "./event-stream.ts";
import { failed, readOnlyToken, rest, token, unavailable } from "./stack.ts";

const { its, direct, stream, publish, untilConnections, ask: request } = useStreams();

const ask = (path: string, headers: Record<string, string>, init: RequestInit = {}) =>
  request(path, undefined, { ...init, headers });

describe("/subscribe", () => {
  test("streams a channel's messages by GET and by POST, in Upstash's frames", async () => {
    for (const method of ["GET", "POST"]) {
      const subscriber = await stream("/subscribe/chat", { method });
      expect(subscriber.status).toBe(200);
      expect(subscriber.headers.get("content-type")).toBe("text/event-stream");
      expect(subscriber.headers.get("cache-control")).toBe("no-cache");
      expect(subscriber.headers.get("upstash-sync-token")).toMatch(/^\S+$/);
      expect((await its.stack.rest("/publish/chat/hello")).json).toEqual({ result: 1 });
      expect(await subscriber.take(2)).toEqual(["subscribe,chat,1", "message,chat,hello"]);
      subscriber.close();
      await untilConnections(2);
    }
  });

  test("takes several channels, and counts each once", async () => {
    const subscriber = await stream("/subscribe/a/b/a/c");
    expect(await subscriber.take(4)).toEqual([
      "subscribe,a,1",
      "subscribe,b,2",
      "subscribe,a,2",
      "subscribe,c,3",
    ]);
    for (const channel of ["c", "d", "a", "b"]) await publish(channel, "x");
    expect(await subscriber.take(3)).toEqual(["message,c,x", "message,a,x", "message,b,x"]);
  });

  test("takes the channel percent-encoded, and ignores the body of a POST", async () => {
    const channel = "room/ä, 1?#%\n*";
    const path = `/subscribe/${encodeURIComponent(channel)}`;
    const subscriber = await stream(path, { method: "POST", body: "[]" });
    await publish(channel, "x");
    expect(await subscriber.take(2)).toEqual([`subscribe,${channel},1`, `message,${channel},x`]);
  });

  test("takes the command in any case, the token from the URL, and no base64, for which Upstash's client asks", async () => {
    const headers = { authorization: "", "Upstash-Encoding": "base64" };
    const subscriber = await stream(`/SUBSCRIBE/chat?_token=${token}`, { headers });
    await publish("chat", "hello");
    expect(await subscriber.take(2)).toEqual(["subscribe,chat,1", "message,chat,hello"]);
  });

  test("messages arrive in order, unchanged except for line ends and bytes that are no UTF-8", async () => {
    const subscriber = await stream("/subscribe/chat");
    const same = [
      "",
      ",a,,b,",
      "a\nb\n\n  c\n",
      "x\n\ndata: message,chat,forged\nevent: y\nid: 1\nretry: 5\n: z",
      "  x  ",
      "👩‍👩‍👧 naïve 日本語",
      "\0\t\u0085\u2028",
      '{"a":"b\\nc","d":[1,null]}',
      "é\n".repeat(350_000),
    ];
    const changed = ["a\r\nb\rc\n\rd", Buffer.from([0x61, 0xff, 0xc3])];
    for (const message of [...same, ...changed]) await publish("chat", message);
    expect(await subscriber.take(12)).toEqual([
      "subscribe,chat,1",
      ...[...same, "a\nb\nc\n\nd", "a\uFFFD\uFFFD"].map((message) => `message,chat,${message}`),
    ]);
  });
});

describe("/psubscribe", () => {
  test("streams what any of its patterns matches, once for each matching pattern", async () => {
    const subscriber = await stream("/psubscribe/news.*/*.tech/h%3Fllo/news.*");
    expect(await subscriber.take(4)).toEqual([
      "psubscribe,news.*,1",
      "psubscribe,*.tech,2",
      "psubscribe,h?llo,3",
      "psubscribe,news.*,3",
    ]);
    await publish("news.art", "a,b");
    await publish("hello", "c\nd");
    await publish("hllo", "none");
    await publish("news.tech", "");
    expect(await subscriber.take(2)).toEqual(["pmessage,news.*,news.art,a,b", "pmessage,h?llo,hello,c\nd"]);
    expect(new Set(await subscriber.take(2))).toEqual(
      new Set(["pmessage,*.tech,news.tech,", "pmessage,news.*,news.tech,"]),
    );
  });
});

describe("/monitor", () => {
  test("streams the commands that Redis runs", async () => {
    const monitor = await stream("/monitor", { method: "POST" });
    expect(await monitor.next()).toBe('"OK"');
    await its.stack.rest("/", ["SET", "key", 'line\n"é" 1,2']);
    await its.stack.rest("/get/key");
    const lines = await monitor.take(2);
    expect(lines.map((line) => /^\d+\.\d{6} \[0 127\.0\.0\.1:\d+\] (.*)$/s.exec(line ?? "")?.[1])).toEqual([
      String.raw`"SET" "key" "line\n\"\xc3\xa9\" 1,2"`,
      '"get" "key"',
    ]);
  });
});

describe("a stream is refused", () => {
  const noHeader = "ERR /subscribe is a stream and needs the header Accept: text/event-stream";
  test.each<[path: string, headers: Record<string, string>, error: string, status?: number, method?: string]>(
    [
      ["/subscribe/chat", { accept: "*/*" }, noHeader],
      ["/subscribe/chat", { accept: "text/event-streams" }, noHeader],
      ["/psubscribe/*", {}, noHeader.replace("subscribe", "psubscribe")],
      ["/monitor", {}, noHeader.replace("subscribe", "monitor")],
      ["/subscribe/chat", sse, "ERR /subscribe must be a GET or POST", 405, "PUT"],
      ["/subscribe", sse, "ERR wrong number of arguments for 'subscribe' command"],
      ["/psubscribe/", sse, "ERR wrong number of arguments for 'psubscribe' command"],
      ["/monitor/all", sse, "ERR wrong number of arguments for 'monitor' command"],
      ["/subscribe/%E0%A4", sse, "ERR the path must be percent-encoded UTF-8"],
    ],
  )("%s with %j: %s", async (path, headers, error, status = 400, method = "GET") => {
    expect(await ask(path, headers, { method })).toEqual(failed(error, status));
  });

  test("but not with that header among others", async () => {
    const headers = { accept: "application/json, Text/Event-Stream;q=0.9, */*" };
    expect(await (await stream("/subscribe/chat", { headers })).next()).toBe("subscribe,chat,1");
  });

  test.each(["subscribe", "psubscribe", "monitor"])(
    "to the read-only token and to strangers: %s",
    async (name) => {
      const by = (bearer: string) => ask(`/${name}/x`, { ...sse, authorization: `Bearer ${bearer}` });
      const refusal = `NOPERM this user has no permissions to run the '${name}' command or its subcommand`;
      expect(await by(readOnlyToken)).toEqual(failed(refusal));
      expect(await by("wrong")).toEqual(failed("WRONGPASS invalid or missing auth token", 401));
    },
  );

  test("as a command, with the header too", async () => {
    for (const name of ["SUBSCRIBE", "PSUBSCRIBE", "MONITOR", "UNSUBSCRIBE"])
      expect(await request("/", [name, "chat"], { headers: sse })).toEqual(unavailable(name));
  });

  test("in Redis's own words when Redis does not allow it", async () => {
    await direct("ACL", "SETUSER", "quiet", "on", ">secret", "~*", "&chat", "+@all", "-monitor");
    const redisUrl = its.stack.redis.url.replace("//", "//quiet:secret@");
    const quiet = await startGateway({ redisUrl, token });
    for (const path of ["/subscribe/other", "/monitor"]) {
      const { status, json } = await rest(quiet.url, path, undefined, { headers: sse });
      expect([status, json]).toEqual(failed(expect.stringMatching(/^NOPERM /)));
    }
    expect(quiet.usage().commands).toBe(0);
    const allowed = await openStream({ gateway: quiet }, "/subscribe/chat");
    expect(await allowed.next()).toBe("subscribe,chat,1");
    await quiet.close();
  });
});
