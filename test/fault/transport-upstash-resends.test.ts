import { describe, expect, test } from "vitest";

import {
  call,
  error,
  failure,
  firstCopy,
  ok,
  payload,
  refused,
  resend,
  transport,
  useUpstash,
  type Responder,
} from "./upstash-stand-in.ts";

const { answering } = useUpstash();

const html = (status: number) => () =>
  new Response(`<h1>${payload}</h1>`, { status, headers: { "content-type": "text/html" } });
const lost: Responder = () => Promise.reject(new TypeError("fetch failed"));
const never: Responder = () => new Promise<never>(() => undefined);
const cut: Responder = () => {
  const start = new TextEncoder().encode(`{"result":"${payload}`);
  const pull = (controller: ReadableStreamDefaultController) => controller.error(new Error("cut"));
  const body = new ReadableStream({ start: (controller) => controller.enqueue(start), pull });
  return new Response(body, { headers: { "content-type": "application/json" } });
};

describe("is sent again, as a resend:", () => {
  test.each<[string, Responder, string]>([
    ["a lost reply", lost, "a network error"],
    ["HTTP 429", error(429, "Too Many Requests"), "an HTTP error (Too Many Requests)"],
    ["HTTP 429 in the words of Redis", error(429, "ERR too many requests"), "an HTTP error (ERR too many"],
    ["HTTP 500", error(500, "Internal Server Error"), "an HTTP error (Internal Server Error)"],
    ["HTTP 500 in the words of Redis", error(500, "ERR internal"), "an HTTP error (ERR internal)"],
    ["HTTP 500 without a reason", () => Response.json({}, { status: 500 }), "an HTTP error"],
    ["HTML with HTTP 502", html(502), "a reply that is not JSON"],
    ["an empty HTTP 503", () => new Response(null, { status: 503 }), "a reply that is not JSON"],
    ["a plain HTTP 504", () => new Response("timeout", { status: 504 }), "a reply that is not JSON"],
    ["HTML with HTTP 200", html(200), "a reply that is not JSON"],
    ["JSON that is no reply", () => Response.json({ hello: 1 }), "not one of the Redis REST protocol"],
    ["JSON that is no result", () => Response.json([{ hello: 1 }]), "not one of the Redis REST protocol"],
    ["JSON that is no object", () => Response.json("hello"), "not one of the Redis REST protocol"],
    ["JSON null", () => Response.json(null), "not one of the Redis REST protocol"],
    ["a cut body", cut, "a network error"],
    ["Redis that is loading", refused("LOADING Redis is loading the dataset"), "LOADING Redis is loading"],
    ["Redis that is busy", refused("BUSY Redis is busy running a script."), "BUSY Redis is busy"],
    ["TRYAGAIN", refused("TRYAGAIN Multiple keys request"), "TRYAGAIN"],
    ["MASTERDOWN", refused("MASTERDOWN Link with MASTER is down"), "MASTERDOWN"],
    ["CLUSTERDOWN", refused("CLUSTERDOWN The cluster is down"), "CLUSTERDOWN"],
  ])("%s", async (_, fault, cause) => {
    const sent = answering(fault, fault, ok);
    expect(await transport().send([call])).toEqual([{ reply: "done" }]);
    expect(sent.map(({ body }) => body)).toEqual([[firstCopy], [resend], [resend]]);

    const again = answering(fault, fault);
    const { code, message } = await failure(transport({ tries: 2 }).send([call]));
    expect(code).toBe("redis_unreachable");
    expect(message).toMatch(/^Redis gave no useful answer in 2 tries over \d+ ms; the last time: /);
    expect(message).toContain(cause);
    expect(again).toHaveLength(2);
  });

  test("a request without an answer", async () => {
    const sent = answering(never, ok);
    expect(await transport({ tryTimeout: 1_000 }).send([call])).toEqual([{ reply: "done" }]);
    expect(sent.map(({ body }) => body)).toEqual([[firstCopy], [resend]]);
  });

  test("a pipeline that is refused as a whole for now", async () => {
    const sent = answering(error(500, "LOADING Redis is loading"), () =>
      Response.json([{ result: 1 }, { result: 2 }]),
    );
    expect(await transport().send([call, ["GET", "k"]])).toEqual([{ reply: 1 }, { reply: 2 }]);
    expect(sent[1]).toMatchObject({ path: "/pipeline", body: [resend, ["GET", "k"]] });
  });

  test.each([
    ["fewer", [{ result: 1 }]],
    ["more", [{ result: 0 }, { result: 1 }, { result: 2 }]],
  ])("a pipeline with %s results than commands", async (_, results) => {
    const sent = answering(
      () => Response.json(results),
      () => Response.json([{ result: 1 }, { result: 2 }]),
    );
    expect(await transport().send([call, call])).toEqual([{ reply: 1 }, { reply: 2 }]);
    expect(sent[1]).toMatchObject({ path: "/pipeline", body: [resend, resend] });
  });

  test("only the commands of a pipeline that were refused for now", async () => {
    const sent = answering(
      () => Response.json([{ result: 1 }, { error: "LOADING" }, { error: "ERR no" }]),
      ok,
    );
    const [first, second, third] = await transport().send([["GET", "a"], call, ["GET", "c"]]);
    expect([first, second]).toEqual([{ reply: 1 }, { reply: "done" }]);
    expect(third).toMatchObject({ error: { code: "redis_error" } });
    expect(sent[1]).toMatchObject({ path: "/pipeline", body: [resend] });
  });
});

test("a request to a server that never answers fails at the deadline", async () => {
  answering(never, never, never, never);
  const { code, message } = await failure(transport({ deadline: 50 }).send([call]));
  expect(code).toBe("redis_unreachable");
  expect(message).toMatch(/in \d+ tr(?:y|ies) over \d+ ms; the last time: no answer within \d+ ms$/);
});

describe("a request that is refused is not sent again:", () => {
  test.each<[string, Responder, string]>([
    ["a syntax error", error(400, "ERR syntax error"), "redis_error"],
    ["a bad request", error(400, "Bad Request"), "redis_error"],
    ["a wrong path", error(404, "Not Found"), "redis_error"],
    ["a wrong token", error(401, "WRONGPASS invalid or missing auth token"), "redis_unauthorized"],
    ["HTTP 401 in other words", error(401, "Unauthorized"), "redis_unauthorized"],
    ["a used up quota", error(400, "ERR max requests limit exceeded. Limit: 1, Usage: 1."), "redis_quota"],
    ["a request above the limit", error(400, "ERR max request size exceeded. Limit: 1 bytes"), "too_large"],
  ])("%s", async (_, fault, code) => {
    const sent = answering(fault);
    await expect(transport().send([call, ["GET", "k"]])).rejects.toMatchObject({ code });
    expect(sent).toHaveLength(1);
    answering(fault);
    await failure(transport().send([call]));
  });
});

describe("a command that is refused is not sent again:", () => {
  test.each<[string, string]>([
    ["ERR user_script:3: bad, script: 12ab, on @user_script:3.", "redis_error"],
    ["WRONGTYPE Operation against a key holding the wrong kind of value", "redis_error"],
    ["NOPERM this user has no permissions to run the 'evalsha' command", "redis_unauthorized"],
    ["ERR max requests limit exceeded. Limit: 1, Usage: 1.", "redis_quota"],
    ["OOM command not allowed when used memory > 'maxmemory'.", "queue_full"],
    ["ERR max single record size exceeded", "queue_full"],
    ["ERR max request size exceeded. Limit: 1 bytes, Actual: 2 bytes.", "too_large"],
  ])("%s", async (text, code) => {
    const sent = answering(() => Response.json([{ result: 1 }, { error: text }, { result: 3 }]));
    const outcomes = await transport().send([["GET", "a"], call, ["GET", "c"]]);
    expect(outcomes).toMatchObject([{ reply: 1 }, { error: { code } }, { reply: 3 }]);
    expect(sent).toHaveLength(1);
    answering(refused(text));
    await failure(transport().send([call]));
  });
});

describe("the caller's signal", () => {
  test("aborted before sends nothing", async () => {
    const sent = answering();
    const sending = transport().send([call], { signal: AbortSignal.abort() });
    expect((await failure(sending)).code).toBe("aborted");
    expect(sent).toEqual([]);
  });

  test("aborted during the request rejects, and sends nothing more", async () => {
    const controller = new AbortController();
    const sent = answering(() => {
      setTimeout(() => controller.abort(), 5);
      return never();
    });
    const sending = transport().send([call], { signal: controller.signal });
    expect((await failure(sending)).code).toBe("aborted");
    expect(sent).toHaveLength(1);
  });

  test("aborted between two tries ends the wait", async () => {
    const controller = new AbortController();
    const sent = answering(() => {
      setTimeout(() => controller.abort(), 20);
      return html(502)();
    });
    const days = 2_147_483_647;
    const retry = { deadline: days, firstWait: days, longestWait: days };
    const sending = transport(retry).send([call], { signal: controller.signal });
    const { code } = await failure(sending);
    // Only a random wait of almost 0, one in a hundred million, would send again.
    expect({ code, requests: sent.length }).toEqual({ code: "aborted", requests: 1 });
  });

  test("that aborts after the reply changes nothing", async () => {
    const controller = new AbortController();
    answering(ok);
    const outcomes = await transport().send([call], { signal: controller.signal });
    controller.abort();
    expect(outcomes).toEqual([{ reply: "done" }]);
  });
});
