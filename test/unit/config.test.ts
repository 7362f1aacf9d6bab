import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";

const redis = {
  UPSTASH_REDIS_REST_URL: "https://eu1.example.com",
  UPSTASH_REDIS_REST_TOKEN: "rest-secret",
};
const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
const entry = { token: "0123456789abcdef", scopes: ["enqueue"], queues: "emails-*" };

describe("the configuration", () => {
  const whole = {
    redis: { url: "https://eu1.example.com", token: "rest-secret" },
    tokens: [entry],
    cronSecrets: ["cron-0123456789ab", "cron-abcdef0123456"],
    prefix: "staging",
    wakeUrl: "https://consumer.example.com/wake",
    wakeSecrets: [secret, secret],
  };

  it("is read from the given environment", () => {
    const env = {
      ...redis,
      REDIS_URL: "redis://localhost:6379",
      SLUICE_TOKENS: JSON.stringify([entry]),
      CRON_SECRET: "cron-0123456789ab  cron-abcdef0123456",
      SLUICE_PREFIX: "staging",
      SLUICE_WAKE_URL: "https://consumer.example.com/wake",
      SLUICE_WAKE_SECRET: `${secret}  ${secret}`,
      SOMETHING_ELSE: { fetch() {} },
    };
    expect(readConfig(env)).toEqual(whole);
  });

  it("needs only a way to Redis, and treats an empty variable as unset", () => {
    const empty = { SLUICE_TOKENS: "", CRON_SECRET: "", SLUICE_PREFIX: "", UPSTASH_REDIS_REST_URL: "" };
    expect(readConfig({ ...empty, REDIS_URL: "rediss://user:pass@example.com:6380/0" })).toEqual({
      redis: { redisUrl: "rediss://user:pass@example.com:6380/0" },
      tokens: [],
      cronSecrets: [],
      prefix: undefined,
      wakeUrl: undefined,
      wakeSecrets: [],
    });
  });

  it("says that REDIS_URL is empty, if nothing else leads to Redis", () => {
    expect(() => readConfig({ REDIS_URL: " " })).toThrow("REDIS_URL is empty; it must be a URL of Redis");
    expect(readConfig({ ...redis, REDIS_URL: "" }).redis).toHaveProperty("url");
  });

  const kv = { KV_REST_API_URL: "https://kv.example.com", KV_REST_API_TOKEN: "kv-secret" };
  const overTcp = { REDIS_URL: "redis://localhost", KV_URL: "rediss://localhost" };
  const empty = { UPSTASH_REDIS_REST_URL: " ", UPSTASH_REDIS_REST_TOKEN: "" };
  it.each([
    ["the names of Vercel's integration", kv, "kv-secret"],
    ["these beside those of TCP", { ...kv, ...overTcp }, "kv-secret"],
    ["Upstash's names if there are both", { ...kv, ...redis }, "rest-secret"],
    ["Vercel's names if Upstash's are empty", { ...kv, ...empty }, "kv-secret"],
  ])("takes Redis over HTTP by %s", (_, env, token) => {
    const url = token === "kv-secret" ? kv.KV_REST_API_URL : redis.UPSTASH_REDIS_REST_URL;
    expect(readConfig(env).redis).toEqual({ url, token });
  });

  it("leaves out blanks and newlines around values, and a byte order mark before the first name", () => {
    const env = {
      "\uFEFFUPSTASH_REDIS_REST_URL": " https://eu1.example.com\r\n",
      UPSTASH_REDIS_REST_TOKEN: "\trest-secret\n",
      SLUICE_TOKENS: `\n${JSON.stringify([entry])} `,
      CRON_SECRET: " cron-0123456789ab\r\ncron-abcdef0123456\n",
      SLUICE_PREFIX: "staging ",
      SLUICE_WAKE_URL: "https://consumer.example.com/wake\n",
      SLUICE_WAKE_SECRET: `\n${secret}\n${secret}\n`,
    };
    expect(readConfig(env)).toEqual(whole);
    expect(readConfig({ REDIS_URL: " redis://localhost\n" }).redis).toEqual({
      redisUrl: "redis://localhost",
    });
  });

  it.each(["'", '"'])("takes SLUICE_TOKENS with the quotes %s around them", (quote) => {
    const value = `${quote}${JSON.stringify([entry])}${quote}\n`;
    expect(readConfig({ ...redis, SLUICE_TOKENS: value }).tokens).toEqual([entry]);
  });

  const withTokens = (...tokens: object[]) => ({ ...redis, SLUICE_TOKENS: JSON.stringify(tokens) });
  it.each([
    ["KV_REST_API_TOKEN", { KV_REST_API_URL: "https://s3cret.example.com" }],
    ["KV_REST_API_URL", { KV_REST_API_TOKEN: "s3cret" }],
    ["UPSTASH_REDIS_REST_TOKEN", { ...kv, UPSTASH_REDIS_REST_URL: "https://s3cret.example.com" }],
    ["UPSTASH_REDIS_REST_URL", { ...kv, UPSTASH_REDIS_REST_TOKEN: "s3cret" }],
    ["UPSTASH_REDIS_REST_TOKEN", { ...redis, UPSTASH_REDIS_REST_TOKEN: "s3cret s3cret" }],
    ["UPSTASH_REDIS_REST_URL", { ...redis, UPSTASH_REDIS_REST_URL: "https://me:s3cret@example.com" }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: `'${JSON.stringify([entry])}s3cret` }],
    ["SLUICE_WAKE_URL", { ...redis, SLUICE_WAKE_URL: "s3cret.example.com", SLUICE_WAKE_SECRET: secret }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_URL: "https://s3cret.example.com" }],
    ["SLUICE_WAKE_URL", { ...redis, SLUICE_WAKE_URL: "https://me:s3cret@a.b", SLUICE_WAKE_SECRET: secret }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: "s3cret" }],
    // Invalid base64 of valid characters.
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: `whsec_${"s3cret".repeat(6).slice(0, 33)}` }],
    ["SLUICE_PREFIX", { ...redis, SLUICE_PREFIX: "s3cret{" }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: `${secret} whsec_s3cret` }],
    ["UPSTASH_REDIS_REST_URL", {}],
    ["UPSTASH_REDIS_REST_TOKEN", { UPSTASH_REDIS_REST_URL: "https://s3cret.example.com" }],
    ["UPSTASH_REDIS_REST_URL", { UPSTASH_REDIS_REST_TOKEN: "s3cret" }],
    ["REDIS_URL", { REDIS_URL: 5 }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: "[s3cret]" }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: '{"token":"s3cret"}' }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: '"s3cret"' }],
    ["SLUICE_TOKENS[0]", { ...redis, SLUICE_TOKENS: '["s3cret"]' }],
    ["SLUICE_TOKENS[1].scopes[0]", withTokens(entry, { ...entry, scopes: ["s3cret"] })],
    ["SLUICE_TOKENS[0]", withTokens({ ...entry, sha256: "0".repeat(64) })],
    ["CRON_SECRET", { ...redis, CRON_SECRET: "s3cret" }],
    ["CRON_SECRET", { ...redis, CRON_SECRET: "s3cret with spaces in it" }],
    ["CRON_SECRET", { ...redis, CRON_SECRET: "cron-0123456789ab s3cret" }],
  ])("names an invalid %s, and shows no value", (path, env) => {
    const read = () => readConfig(env);
    expect(read).toThrow(expect.objectContaining({ code: "invalid_argument", path }));
    expect(read).toThrow(path);
    expect(read).not.toThrow(/s3cret/);
  });
});
