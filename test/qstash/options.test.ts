import { expect, onTestFinished, test, vi } from "vitest";
import { sluice } from "../../serverless/cloudflare.ts";
import { order } from "../../src/open/order/index.ts";
import { qstash, type QStashOptions } from "../../src/qstash/index.ts";
import { testDeployment } from "../../src/testing/index.ts";
import { SIGNING_KEYS, TOKEN } from "./rig.ts";

// The options of the dialect, and what a deployment needs beside it.
const valid: QStashOptions = { token: TOKEN, signingKeys: SIGNING_KEYS };

const invalid: readonly (readonly [string, object, string])[] = [
  ["a short token", { token: "secret-token" }, "qstash.token must be 16 to 512 visible ASCII characters"],
  ["no token", { token: [] }, "qstash.token must be"],
  [
    "one signing key",
    { signingKeys: ["secret-key"] },
    "qstash.signingKeys must be the current and the next signing key",
  ],
  ["no host", { allow: ["https://example.com"] }, "qstash.allow[0] must be a host"],
  ["an unknown option", { tokens: [] }, "qstash.tokens is an unknown option"],
];

test.each(invalid)("%s is refused, without the secret", (_, options, message) => {
  const thrown = (make: () => unknown) => {
    try {
      make();
    } catch (error) {
      return (error as Error).message;
    }
    return undefined;
  };
  const error = thrown(() => qstash({ ...valid, ...options }));
  expect(error).toContain(message);
  expect(error).not.toContain("secret");
});

test("a Worker needs its code, and the order", () => {
  expect(() => sluice({ qstash: valid })).toThrow('import { qstash } from "sluice-queue/qstash"');
  expect(() => sluice({ qstash: qstash(valid) })).toThrow('import { order } from "sluice-queue/order"');
  expect(() => sluice({ order, qstash: qstash(valid) })).not.toThrow();
});

test("a runtime that does not show addresses needs `allow`", () => {
  vi.stubGlobal("EdgeRuntime", "edge-runtime");
  onTestFinished(() => void vi.unstubAllGlobals());
  expect(() => qstash(valid)).toThrow("qstash.allow must list the hosts that requests may go to");
  expect(() => qstash({ ...valid, allow: ["example.com"] })).not.toThrow();
});

test("several tokens are valid, and the options may depend on the environment", async () => {
  const made: object[] = [];
  const deployed = testDeployment<{ TOKENS: string }>(
    {
      qstash: (env: { readonly TOKENS: string }) => {
        made.push(env);
        return { ...valid, token: env.TOKENS.split(",") };
      },
    },
    { env: { TOKENS: `${TOKEN},another-0123456789` } },
  );
  const get = async (token: string) => {
    const headers = { authorization: `Bearer ${token}` };
    return (await deployed.fetch("/v2/topics", { headers })).status;
  };
  expect(await Promise.all([TOKEN, "another-0123456789", "unknown-0123456789"].map(get))).toEqual([
    200, 200, 401,
  ]);
  expect(made).toHaveLength(1);
});

test("options of the environment that are invalid are the server's fault, and logged there", async () => {
  const deployed = testDeployment({ qstash: () => ({ ...valid, token: "short" }), logger: "silent" });
  const answer = await deployed.fetch("/v2/topics", { headers: { authorization: `Bearer ${TOKEN}` } });
  expect([answer.status, await answer.json()]).toEqual([500, { error: expect.any(String) }]);
});
