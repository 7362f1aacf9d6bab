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
  const form = "redis://[user[:password]@]host[:port][/database] or rediss://…";
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

  test("unknown retry options", () => {
    expect(refusal(() => resp({ url: "redis://localhost", retry: { tries: 0 } })).path).toBe("retry.tries");
  });
});
