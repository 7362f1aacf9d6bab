import { describe, expect, test } from "vitest";

import { SluiceError } from "../../src/errors.ts";
import { resp } from "../../src/transport/resp.ts";
import { upstash } from "../../src/transport/upstash.ts";

const url = "https://eu1-some.upstash.io";
const token = "AbC123==";

function refusal(make: () => unknown): { code: string; message: string; path: string | undefined } {
  try {
    make();
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error;
    expect(error.stack).not.toContain("secret");
    return { code: error.code, message: error.message, path: error.path };
  }
  throw new Error("was not refused");
}

describe("upstash takes", () => {
  interface Env {
    UPSTASH_REDIS_REST_URL: string;
    UPSTASH_REDIS_REST_TOKEN: string;
    OTHER: { binding: true };
  }
  const env: Env = {
    UPSTASH_REDIS_REST_URL: url,
    UPSTASH_REDIS_REST_TOKEN: token,
    OTHER: { binding: true },
  };

  test("the environment of a Worker, or process.env", () => {
    expect(upstash(env)).toHaveProperty("send");
    const before = process.env;
    process.env = { ...before, UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
    expect(upstash(process.env, { retry: { tries: 1 } })).toHaveProperty("send");
    process.env = before;
  });

  test("the names of Vercel's integration, with blanks around the values", () => {
    const kv = { KV_REST_API_URL: `${url}\n`, KV_REST_API_TOKEN: ` ${token}` };
    expect(upstash(kv).database).toBe(new URL(url).href);
    expect(upstash({ ...kv, ...env, UPSTASH_REDIS_REST_URL: "https://own.io" }).database).toBe(
      "https://own.io/",
    );
  });

  test("credentials, with options beside them or behind them", () => {
    expect(upstash({ url, token })).toHaveProperty("send");
    expect(upstash({ url: `${url}/`, token, retry: { tries: 1 } })).toHaveProperty("send");
    const bad = { deadline: -1 };
    expect(refusal(() => upstash({ url, token, retry: bad })).path).toBe("retry.deadline");
    expect(refusal(() => upstash(env, { retry: bad })).path).toBe("retry.deadline");
  });
});

describe("upstash refuses", () => {
  const missing = (names: string) =>
    `${names} missing: pass the environment that has both, as upstash(env), or { url, token }`;

  test("a call without arguments, if the process has no such variables", () => {
    const before = process.env;
    process.env = {};
    expect(refusal(() => upstash()).message).toBe(
      missing("UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are"),
    );
    process.env = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
    expect(upstash()).toHaveProperty("send");
    process.env = before;
  });

  test("what is no environment", () => {
    expect(refusal(() => upstash("secret" as never)).message).toBe(
      "the first argument must be an environment, such as env, or { url, token }",
    );
  });

  test.each([
    [{}, missing("UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are"), "UPSTASH_REDIS_REST_URL"],
    [{ url: undefined, token: "" }, missing("url and token are"), "url"],
    [{ url: "not a URL", token: null }, missing("token is"), "token"],
    [{ url, token: 1 }, "token must be visible ASCII characters without spaces", "token"],
    [
      { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: "" },
      missing("UPSTASH_REDIS_REST_TOKEN is"),
      "UPSTASH_REDIS_REST_TOKEN",
    ],
    [
      { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, SLUICE_PREFIX: "a {secret}" },
      "SLUICE_PREFIX must be 1 to 64 of A-Z a-z 0-9 _ . : -, not beginning with . or :",
      "SLUICE_PREFIX",
    ],
    [
      { KV_REST_API_URL: url, UPSTASH_REDIS_REST_TOKEN: token },
      missing("UPSTASH_REDIS_REST_URL is"),
      "UPSTASH_REDIS_REST_URL",
    ],
    [{ KV_REST_API_URL: url }, missing("KV_REST_API_TOKEN is"), "KV_REST_API_TOKEN"],
    [{ url: undefined, token }, missing("url is"), "url"],
    [{ url, token: undefined }, missing("token is"), "token"],
    [{ url: "secret", token }, "url must be a URL that begins with https:// or http://", "url"],
    [{ url: "redis://secret@host", token }, "url must be a URL that begins with https:// or http://", "url"],
    [
      { url: "https://secret@host.io", token },
      "url must be a URL without user, password, query and fragment",
      "url",
    ],
    [
      { url: `${url}?_token=secret`, token },
      "url must be a URL without user, password, query and fragment",
      "url",
    ],
    [{ url, token: "secret\n" }, "token must be visible ASCII characters without spaces", "token"],
  ])("%o", (from, message, path) => {
    expect(refusal(() => upstash(from as never))).toEqual({ code: "invalid_argument", message, path });
  });
});

describe("resp refuses", () => {
  const form = "redis://[user[:password]@]host[:port][/database], rediss://… or cluster://…";
  test.each(["", "secret", "http://secret@host", "redis://host/secret", "redis://:sec%ret@host"])(
    "%j",
    (address) => {
      expect(refusal(() => resp(address))).toEqual({
        code: "invalid_argument",
        message: `url must be of the form ${form}`,
        path: "url",
      });
    },
  );

  test.each([
    [{}, "REDIS_URL is missing: pass the environment that has it, as resp(env), or a URL"],
    [{ REDIS_URL: " \n" }, "REDIS_URL is missing: pass the environment that has it, as resp(env), or a URL"],
    [
      { REDIS_URL: "http://secret" },
      "REDIS_URL must be a URL that begins with redis://, rediss:// or cluster://",
    ],
  ])("the environment %o", (env, message) => {
    expect(refusal(() => resp(env))).toEqual({ code: "invalid_argument", message, path: "REDIS_URL" });
  });

  test("unknown retry options", () => {
    expect(refusal(() => resp({ url: "redis://localhost", retry: { tries: 0 } })).path).toBe("retry.tries");
  });
});

describe("resp of a cluster takes", () => {
  test.each([
    "cluster://host",
    "cluster://a:1,b:2,[::1]:3/",
    "clusters://user:secret@a,b",
    "cluster://:s%40cret@a",
  ])("%j", (url) => {
    expect(resp(url)).toMatchObject({ cluster: true });
    const natMap = { "10.0.0.1:6379": { host: "example.com", port: 7001 } };
    expect(resp({ url, natMap, retry: { tries: 1 } })).toMatchObject({ cluster: true });
  });

  test("nodes, and a database that is not a cluster has no such mark", () => {
    expect(resp({ nodes: ["rediss://user:secret@a:1", "rediss://user:secret@b"] })).toMatchObject({
      cluster: true,
    });
    expect(resp("redis://a").cluster).toBe(undefined);
  });
});

describe("resp of a cluster refuses", () => {
  const form =
    "must be of the form cluster://[user[:password]@]host[:port][,host[:port]…], or clusters://… for TLS";
  test.each([
    "cluster:",
    "cluster://",
    "cluster://a,",
    "cluster://secret:x",
    "cluster://user:secret@a,user:secret@b",
    "cluster://a:secret,b",
    "cluster://secret@a/1",
    "cluster://a:99999",
    "cluster://:sec%ret@a",
    "cluster://:secret@a?x=1",
  ])("%j", (url) => {
    expect(refusal(() => resp(url))).toEqual({
      code: "invalid_argument",
      message: `url ${form}`,
      path: "url",
    });
  });

  const nodeForm = "must be of the form redis://[user[:password]@]host[:port] or rediss://…";
  const same = "must have the protocol, user and password of nodes[0]";
  test.each([
    [[], "nodes", 'must be a list of URLs of nodes, such as ["redis://a:6379"]'],
    ["redis://secret@a", "nodes", 'must be a list of URLs of nodes, such as ["redis://a:6379"]'],
    [["secret"], "nodes[0]", nodeForm],
    [["redis://a", "http://secret@b"], "nodes[1]", nodeForm],
    [["redis://a", "redis://:sec%ret@b"], "nodes[1]", nodeForm],
    [["redis://a", "redis://b/secret"], "nodes[1]", nodeForm],
    [["redis://:secret@a/2"], "nodes[0]", "must have no database: a cluster has only database 0"],
    [["redis://a/0"], "nodes[0]", "must have no database: a cluster has only database 0"],
    [["redis://:secret@a", "redis://b"], "nodes[1]", same],
    [["redis://:secret@a", "redis://:secret2@b"], "nodes[1]", same],
    [["redis://x:secret@a", "redis://y:secret@b"], "nodes[1]", same],
    [["redis://a", "rediss://b"], "nodes[1]", same],
  ])("nodes %j", (nodes, path, problem) => {
    const message = `${path} ${problem}`;
    expect(refusal(() => resp({ nodes: nodes as string[] }))).toEqual({
      code: "invalid_argument",
      message,
      path,
    });
  });

  test.each([
    null,
    "10.0.0.1:6379",
    { "10.0.0.1": { host: "a", port: 1 } },
    { "10.0.0.1:1": { host: "", port: 1 } },
    { "10.0.0.1:1": { host: "a", port: 0 } },
    { "10.0.0.1:1": { host: "a", port: "1" } },
    { "10.0.0.1:1": undefined },
  ])("a natMap %j", (natMap) => {
    expect(refusal(() => resp({ nodes: ["redis://a"], natMap: natMap as never }))).toMatchObject({
      path: "natMap",
    });
  });

  test("what is for a cluster with another Redis, and nodes with a URL", () => {
    expect(refusal(() => resp({ url: "redis://a", natMap: {} }))).toEqual({
      code: "invalid_argument",
      message: "natMap must only be given for a cluster",
      path: "natMap",
    });
    const both = { url: "redis://a", nodes: ["redis://a"] };
    expect(refusal(() => resp(both))).toMatchObject({
      path: "nodes",
      message: "nodes must not be given with url",
    });
    expect(refusal(() => resp({ nodes: ["redis://a"], retry: { tries: 0 } }))).toMatchObject({
      path: "retry.tries",
    });
  });
});
