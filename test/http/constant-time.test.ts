import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { equal } from "../../src/http/auth/authenticator.ts";

// Comparing a secret takes as long wherever it is wrong. This is shown by counting and by the text of the
// program, because what a clock shows of it depends on the machine.

const source = (path: string) =>
  readFileSync(new URL(`../../${path}`, import.meta.url), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");

test("two digests are read to their end, wherever they differ", () => {
  const counted = (bytes: Uint8Array) => {
    const read: string[] = [];
    const proxy = new Proxy(bytes, {
      get(target, name) {
        if (typeof name === "string" && /^\d+$/.test(name)) read.push(name);
        return Reflect.get(target, name, target) as unknown;
      },
    });
    return { proxy, read };
  };
  const all = Array.from({ length: 32 }, (_, at) => String(at));
  const digest = Uint8Array.from({ length: 32 }, (_, at) => at * 7);
  for (let at = 0; at <= 32; at++) {
    const other = digest.map((byte, index) => (index === at ? byte ^ 0x80 : byte));
    const [one, two] = [counted(digest), counted(other)];
    expect(equal(one.proxy, two.proxy)).toBe(at === 32);
    expect([one.read, two.read]).toEqual([all, all]);
  }
  expect([equal(digest, digest.subarray(1)), equal(digest.subarray(1), digest)]).toEqual([false, false]);
});

test("every entry is compared, and what is compared is a digest: it does not show how much of a token is right", () => {
  const authenticate =
    /async authenticate\([^]*?\n {2}\}/.exec(source("src/http/auth/authenticator.ts"))?.[0] ?? "";
  expect(authenticate).toContain("const digest = await sha256(token);");
  // Not `find` or `some`, which end at the first.
  expect(authenticate).toContain("this.#entries.filter((entry) => equal(entry.digest, digest))");
});

test("a wake's signature is compared by WebCrypto, the gateway's tokens by Node, as intended", () => {
  expect(source("src/signature.ts")).toContain('crypto.subtle.verify("HMAC", key,');
  const gateway = source("src/local/gateway/gateway.ts");
  expect(gateway).toContain("known.find(([token]) => timingSafeEqual(token, given))");
  expect(gateway).toContain('createHash("sha256").update(text).digest()');
});

/** Comparisons in the program of a value named like a secret, except with undefined or null. */
function comparisons(program: string): string[] {
  const secret = String.raw`\b\w*(?:token|secret|digest|signature|bearer|authorization)\w*\b`;
  const patterns = [
    String.raw`(?<!typeof )${secret}\)*\s*[!=]==?\s*(?!undefined\b|null\b|"")\w+`,
    String.raw`[^"\s=!]\)*\s*[!=]==?\s*\(?${secret}`,
    String.raw`${secret}\.(?:localeCompare|includes|indexOf|endsWith)\(`,
  ];
  return patterns.flatMap((pattern) => program.match(new RegExp(pattern, "gi")) ?? []);
}

test.each([
  "src/http/auth/authenticator.ts",
  "src/http/auth/tokens.ts",
  "src/http/app.ts",
  "src/signature.ts",
  "src/features/waking/wake-verifier.ts",
  "src/local/gateway/gateway.ts",
  "src/config.ts",
])("%s compares no secret by itself", (path) => {
  expect(comparisons(source(path))).toEqual([]);
});

test("a comparison of a secret would be found", () => {
  const found = ["token === given", "given !== secret", "digest == other", "x || token.includes(y)"];
  const others = ["token === undefined", "secret !== null", 'typeof secret === "string"'];
  for (const program of [...found, ...others])
    expect([program, comparisons(program).length]).toEqual([program, found.includes(program) ? 1 : 0]);
});
