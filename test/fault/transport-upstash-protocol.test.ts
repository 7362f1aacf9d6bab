import { describe, expect, test } from "vitest";

import { upstash } from "../../src/transport/upstash.ts";
import {
  call,
  echo,
  error,
  failure,
  firstCopy,
  ok,
  payload,
  refused,
  token,
  transport,
  url,
  useUpstash,
} from "./upstash-stand-in.ts";

const { answering } = useUpstash();

describe("the request", () => {
  test("is one pipeline of all commands, even for one, and nothing else", async () => {
    const sent = answering(ok, () => Response.json([{ result: 1 }, { result: null }]));
    expect(await transport().send([call])).toEqual([{ reply: "done" }]);
    expect(
      await transport().send([
        ["LLEN", "l"],
        ["GET", "007"],
      ]),
    ).toEqual([{ reply: 1 }, { reply: null }]);
    expect(sent).toMatchObject([
      { path: "/pipeline", body: [firstCopy] },
      {
        path: "/pipeline",
        body: [
          ["LLEN", "l"],
          ["GET", "007"],
        ],
      },
    ]);
  });

  test("authorizes itself, asks for plain replies and sends no telemetry", async () => {
    const sent = answering(ok);
    await transport().send([call]);
    const headers = Object.fromEntries(sent[0]?.headers ?? []);
    expect(headers["authorization"]).toBe(`Bearer ${token}`);
    expect(
      Object.keys(headers).filter((name) => /telemetry|encoding/.test(name) && name.startsWith("upstash")),
    ).toEqual([]);
  });

  test("carries the sync token of the previous reply", async () => {
    const token = (text: string) => () =>
      Response.json([{ result: 1 }], { headers: { "upstash-sync-token": text } });
    const sent = answering(token("t1"), token("t2"));
    const one = transport();
    await one.send([["GET", "k"]]);
    await one.send([["GET", "k"]]);
    expect(sent.map(({ headers }) => headers.get("upstash-sync-token"))).toEqual(["", "t1"]);
  });

  test("without key locking names the script without it", async () => {
    const sent = answering(refused("NOSCRIPT No matching script."), ok);
    await upstash({ url, token }, { keyLocking: false }).send([call]);
    expect(sent.map(({ body }) => body)).toEqual([
      [["EVALSHA", echo.sha1, "1", "{q}:k", payload, "0"]],
      [["EVAL", echo.source, "1", "{q}:k", payload, "0"]],
    ]);
  });
});

describe("a text in a reply", () => {
  test.each(["42", "null", "", "OK", "\uFEFFmarked", "\u0000", "😀", "T0s=", '{"a":1}'])(
    "%j stays unchanged",
    async (text) => {
      answering(() => Response.json([{ result: [text, [text]] }]));
      expect(await transport().send([call])).toEqual([{ reply: [text, [text]] }]);
    },
  );
});

describe("a script that Upstash does not know", () => {
  test("is sent with its body, and that is no resend", async () => {
    const sent = answering(refused("NOSCRIPT No matching script. Please use EVAL."), ok);
    expect(await transport().send([call])).toEqual([{ reply: "done" }]);
    expect(sent.map(({ body }) => body)).toEqual([
      [firstCopy],
      [["EVAL", `#!lua flags=allow-key-locking\n${echo.source}`, "1", "{q}:k", payload, "0"]],
    ]);
  });
});

describe("an error text", () => {
  test("loses the command that the SDK repeats in it", async () => {
    answering(error(400, "ERR syntax error"));
    const { message } = await failure(transport().send([call]));
    expect(message).toBe("Redis refused the command: ERR syntax error");
  });

  test("loses the arguments that Redis repeats in it", async () => {
    answering(refused(`ERR unknown command 'EVALSHA', with args beginning with: '${payload}'`));
    expect((await failure(transport().send([call]))).message).toBe(
      "Redis refused the command: ERR unknown command 'EVALSHA'",
    );
    answering(() => Response.json([{ error: `ERR not a number: ${payload}` }, { result: 1 }]));
    expect((await failure(transport().send([call, ["PING"]]))).message).toBe(
      "Redis refused the command: ERR not a number: …",
    );
  });
});
