import { expect, test } from "vitest";

import { SluiceError } from "../../src/errors.ts";
import { resp } from "../../src/transports/resp.ts";
import { upstash } from "../../src/transports/upstash.ts";

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

const env = { UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token, OTHER: { binding: true } };
const kv = { KV_REST_API_URL: `${url}\n`, KV_REST_API_TOKEN: ` ${token}` };

test.each([
  ["the environment of a Worker", env, `${url}/`],
  ["the names of Vercel's integration, with blanks around the values", kv, `${url}/`],
  [
    "the own names before those",
    { ...kv, ...env, UPSTASH_REDIS_REST_URL: "https://own.io" },
    "https://own.io/",
  ],
  ["credentials, with options beside them", { url: `${url}/`, token, retry: { tries: 1 } }, `${url}/`],
] as const)("upstash takes %s", (_, from, database) => {
  expect(upstash(from).database).toBe(database);
});

test("upstash takes options beside credentials and behind them, and without arguments the process's variables", () => {
  const bad = { deadline: -1 };
  expect(refusal(() => upstash({ url, token, retry: bad })).path).toBe("retry.deadline");
  expect(refusal(() => upstash(env, { retry: bad })).path).toBe("retry.deadline");
  const before = process.env;
  process.env = { ...before, UPSTASH_REDIS_REST_URL: url, UPSTASH_REDIS_REST_TOKEN: token };
  expect(upstash().database).toBe(`${url}/`);
  process.env = before;
});

const missing = (names: string) =>
  `${names} missing: pass the environment that has both, as upstash(env), or { url, token }`;
const noPlain = "url must be a URL without user, password, query and fragment";
const noRest = "url must be a URL that begins with https:// or http://";
test.each([
  [
    "secret",
    "the first argument must be an environment, such as env, or { url, token }",
    "the first argument",
  ],
  [{}, missing("UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN are"), "UPSTASH_REDIS_REST_URL"],
  [
    { ...env, UPSTASH_REDIS_REST_TOKEN: "" },
    missing("UPSTASH_REDIS_REST_TOKEN is"),
    "UPSTASH_REDIS_REST_TOKEN",
  ],
  [
    { KV_REST_API_URL: url, UPSTASH_REDIS_REST_TOKEN: token },
    missing("UPSTASH_REDIS_REST_URL is"),
    "UPSTASH_REDIS_REST_URL",
  ],
  [{ KV_REST_API_URL: url }, missing("KV_REST_API_TOKEN is"), "KV_REST_API_TOKEN"],
  [{ url: undefined, token: "" }, missing("url and token are"), "url"],
  [{ url: "not a URL", token: null }, missing("token is"), "token"],
  [{ url, token: 1 }, "token must be visible ASCII characters without spaces", "token"],
  [{ url, token: "secret\n" }, "token must be visible ASCII characters without spaces", "token"],
  [
    { ...env, SLUICE_PREFIX: "a {secret}" },
    "SLUICE_PREFIX must be 1 to 64 of A-Z a-z 0-9 _ . : -, not beginning with . or :",
    "SLUICE_PREFIX",
  ],
  [{ url: "secret", token }, noRest, "url"],
  [{ url: "redis://secret@host", token }, noRest, "url"],
  [{ url: "https://secret@host.io", token }, noPlain, "url"],
  [{ url: `${url}?_token=secret`, token }, noPlain, "url"],
])("upstash refuses %o", (from, message, path) => {
  expect(refusal(() => upstash(from as never))).toEqual({ code: "invalid_argument", message, path });
});

test.each([
  "cluster://host",
  "cluster://a:1,b:2,[::1]:3/",
  "clusters://user:secret@a,b",
  "cluster://:s%40cret@a",
])("resp takes the cluster %j", (url) => {
  expect(resp(url).cluster).toBe(true);
  const natMap = { "10.0.0.1:6379": { host: "example.com", port: 7001 } };
  expect(resp({ url, natMap, retry: { tries: 1 } }).cluster).toBe(true);
});

test("resp takes nodes as a cluster, and one Redis as none", () => {
  expect(resp({ nodes: ["rediss://user:secret@a:1", "rediss://user:secret@b"] }).cluster).toBe(true);
  expect(resp("redis://a").cluster).toBe(undefined);
});

const invalid = (path: string, problem: string) => ({
  code: "invalid_argument",
  message: `${path} ${problem}`,
  path,
});
const unreadable = (allowed: string) =>
  `cannot be read; it must be of the form ${allowed}, with special characters of user and password ` +
  "percent-encoded (encodeURIComponent), and a port of at most 65535";
const form = "redis://[user[:password]@]host[:port][/database], rediss://… or cluster://…";
const clusterForm = "cluster://[user[:password]@]host[:port][,host[:port]…], or clusters://… for TLS";
test.each([
  ["redis://host/secret", form],
  ["redis://:sec%ret@host", form],
  ["redis://:sec#ret@host", form],
  ["redis://:sec/ret@host", form],
  ["redis://:sec?ret@host", form],
  ["redis://user:12#secret@host", form],
  ["redis://user:12?secret@host", form],
  ["redis://user:12/secret@host", form],
  ["redis://:secret@host:77100", form],
  ["cluster:", clusterForm],
  ["cluster://", clusterForm],
  ["cluster://a,", clusterForm],
  ["cluster://secret:x", clusterForm],
  ["cluster://user:secret@a,user:secret@b", clusterForm],
  ["cluster://a:secret,b", clusterForm],
  ["cluster://secret@a/1", clusterForm],
  ["cluster://a:99999", clusterForm],
  ["cluster://:sec%ret@a", clusterForm],
  ["cluster://:secret@a?x=1", clusterForm],
])("resp refuses %j", (url, allowed) => {
  const problem = unreadable(allowed);
  expect(refusal(() => resp(url))).toEqual(invalid("url", problem));
  expect(refusal(() => resp({ REDIS_URL: url }))).toEqual(invalid("REDIS_URL", problem));
});

const noRedisUrl = "must be a URL that begins with redis://, rediss:// or cluster://";
test.each([
  ["", noRedisUrl],
  ["secret", noRedisUrl],
  ["http://secret@host", noRedisUrl],
  ['"redis://:secret@host"', "must have no quotes around it"],
  ["'redis://:secret@host'", "must have no quotes around it"],
])("resp refuses %j, which is no URL of Redis", (url, problem) => {
  expect(refusal(() => resp(url))).toEqual(invalid("url", problem));
  if (url !== "") expect(refusal(() => resp({ REDIS_URL: url }))).toEqual(invalid("REDIS_URL", problem));
});

const noUrl = "is missing: pass the environment that has it, as resp(env), or a URL";
const nodeForm = unreadable("redis://[user[:password]@]host[:port] or rediss://…");
const noList = 'must be a list of URLs of nodes, such as ["redis://a:6379"]';
const same = "must have the protocol, user and password of nodes[0]";
const noDatabase = "must have no database: a cluster has only database 0";
const aCount = "must be a number of tries from 1 to 9007199254740991";
test.each<[from: object, path: string, problem: string]>([
  [{}, "REDIS_URL", noUrl],
  [{ REDIS_URL: " \n" }, "REDIS_URL", noUrl],
  [{ REDIS_URL: "http://secret" }, "REDIS_URL", noRedisUrl],
  [{ url: "redis://localhost", retry: { tries: 0 } }, "retry.tries", aCount],
  [{ nodes: ["redis://a"], retry: { tries: 0 } }, "retry.tries", aCount],
  [{ url: "redis://a", natMap: {} }, "natMap", "must only be given for a cluster"],
  [{ url: "redis://a", nodes: ["redis://a"] }, "nodes", "must not be given with url"],
  [{ nodes: [] }, "nodes", noList],
  [{ nodes: "redis://secret@a" }, "nodes", noList],
  [{ nodes: ["secret"] }, "nodes[0]", nodeForm],
  [{ nodes: ["redis://a", "http://secret@b"] }, "nodes[1]", nodeForm],
  [{ nodes: ["redis://a", "redis://:sec%ret@b"] }, "nodes[1]", nodeForm],
  [{ nodes: ["redis://a", "redis://b/secret"] }, "nodes[1]", nodeForm],
  [{ nodes: ["redis://:secret@a/2"] }, "nodes[0]", noDatabase],
  [{ nodes: ["redis://a/0"] }, "nodes[0]", noDatabase],
  [{ nodes: ["redis://:secret@a", "redis://b"] }, "nodes[1]", same],
  [{ nodes: ["redis://:secret@a", "redis://:secret2@b"] }, "nodes[1]", same],
  [{ nodes: ["redis://x:secret@a", "redis://y:secret@b"] }, "nodes[1]", same],
  [{ nodes: ["redis://a", "rediss://b"] }, "nodes[1]", same],
])("resp refuses %j", (from, path, problem) => {
  expect(refusal(() => resp(from))).toEqual(invalid(path, problem));
});

test.each([
  null,
  "10.0.0.1:6379",
  { "10.0.0.1": { host: "a", port: 1 } },
  { "10.0.0.1:1": { host: "", port: 1 } },
  { "10.0.0.1:1": { host: "a", port: 0 } },
  { "10.0.0.1:1": { host: "a", port: "1" } },
  { "10.0.0.1:1": undefined },
])("resp refuses the natMap %j", (natMap) => {
  expect(refusal(() => resp({ nodes: ["redis://a"], natMap: natMap as never })).path).toBe("natMap");
});
