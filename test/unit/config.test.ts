import { describe, expect, it } from "vitest";
import { readConfig } from "../../src/config.ts";

const redis = {
  UPSTASH_REDIS_REST_URL: "https://eu1.example.com",
  UPSTASH_REDIS_REST_TOKEN: "rest-secret",
};
const secret = `whsec_${btoa("a secret of at least 24 bytes")}`;
const entry = { token: "0123456789abcdef", scopes: ["enqueue"], queues: "emails-*" };

describe("the configuration", () => {
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
    expect(readConfig(env)).toEqual({
      redis: { url: "https://eu1.example.com", token: "rest-secret" },
      tokens: [entry],
      cronSecrets: ["cron-0123456789ab", "cron-abcdef0123456"],
      prefix: "staging",
      wakeUrl: "https://consumer.example.com/wake",
      wakeSecrets: [secret, secret],
    });
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

  it.each([
    ["SLUICE_WAKE_URL", { ...redis, SLUICE_WAKE_URL: "s3cret.example.com", SLUICE_WAKE_SECRET: secret }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_URL: "https://s3cret.example.com" }],
    [
      "SLUICE_WAKE_URL",
      { ...redis, SLUICE_WAKE_URL: "https://me:s3cret@example.com", SLUICE_WAKE_SECRET: secret },
    ],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: "s3cret" }],
    // Invalid base64 of valid characters; one byte too few; one byte too many.
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: `whsec_${"s3cret".repeat(6).slice(0, 33)}` }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: `whsec_${btoa("s3cret".repeat(4).slice(1))}` }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: `whsec_${btoa("s3cret".repeat(11).slice(1))}` }],
    ["SLUICE_PREFIX", { ...redis, SLUICE_PREFIX: "s3cret{" }],
    ["SLUICE_WAKE_SECRET", { ...redis, SLUICE_WAKE_SECRET: `${secret} whsec_s3cret` }],
    ["UPSTASH_REDIS_REST_URL", {}],
    ["UPSTASH_REDIS_REST_TOKEN", { UPSTASH_REDIS_REST_URL: "https://s3cret.example.com" }],
    ["UPSTASH_REDIS_REST_URL", { UPSTASH_REDIS_REST_TOKEN: "s3cret" }],
    ["UPSTASH_REDIS_REST_URL", { ...redis, UPSTASH_REDIS_REST_URL: "s3cret.example.com" }],
    ["UPSTASH_REDIS_REST_URL", { ...redis, UPSTASH_REDIS_REST_URL: "redis://s3cret" }],
    ["REDIS_URL", { REDIS_URL: "http://s3cret" }],
    ["REDIS_URL", { REDIS_URL: "s3cret" }],
    ["REDIS_URL", { REDIS_URL: 5 }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: "[s3cret]" }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: '{"token":"s3cret"}' }],
    ["SLUICE_TOKENS", { ...redis, SLUICE_TOKENS: '"s3cret"' }],
    ["SLUICE_TOKENS[0]", { ...redis, SLUICE_TOKENS: '["s3cret"]' }],
    ["SLUICE_TOKENS[0].token", { ...redis, SLUICE_TOKENS: JSON.stringify([{ ...entry, token: "s3cret" }]) }],
    [
      "SLUICE_TOKENS[0].queues",
      { ...redis, SLUICE_TOKENS: JSON.stringify([{ ...entry, queues: undefined }]) },
    ],
    [
      "SLUICE_TOKENS[1].scopes[0]",
      { ...redis, SLUICE_TOKENS: JSON.stringify([entry, { ...entry, scopes: ["s3cret"] }]) },
    ],
    ["SLUICE_TOKENS[0]", { ...redis, SLUICE_TOKENS: JSON.stringify([{ ...entry, sha256: "0".repeat(64) }]) }],
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
