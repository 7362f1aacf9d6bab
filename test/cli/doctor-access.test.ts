import { createHash } from "node:crypto";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { resp } from "../../src/transport/resp.ts";
import { startRedis } from "../support/redis.ts";
import { byAbout } from "./findings.ts";
import { ENQUEUE_TOKEN, TOKEN, useCli, useFolder } from "./rig.ts";
import { runHere } from "./run-here.ts";

const rig = useCli();
const folder = useFolder();

describe("tokens", () => {
  const doctor = (env: Record<string, string>, ...args: string[]) =>
    rig.sluice("the database", ["doctor", ...args], { env });
  const tokens = async (env: Record<string, string>, ...args: string[]) => {
    const { code, rows } = await doctor(env, ...args);
    return [code, byAbout(rows)["tokens"]];
  };
  const entry = { scopes: ["enqueue"], queues: "*" };
  const hashed = { sha256: createHash("sha256").update(TOKEN).digest("hex"), ...entry };
  const secret = { CRON_SECRET: "cron-0123456789abcdef" };

  test("of the environment, as hashes, in plain text, or wrong", async () => {
    expect(await tokens({})).toEqual([
      0,
      ["unknown", "SLUICE_TOKENS is not set here", expect.stringContaining("--env-file")],
    ]);
    const plain = JSON.stringify([hashed, { token: TOKEN, ...entry }]);
    expect(await tokens({ ...secret, SLUICE_TOKENS: plain })).toEqual([
      0,
      ["warning", "2 tokens in SLUICE_TOKENS, 1 in plain text", expect.stringContaining("sluice token")],
    ]);
    expect(await tokens({ SLUICE_TOKENS: "[]" })).toEqual([
      0,
      ["warning", "0 tokens in SLUICE_TOKENS", "no client is let in; sluice token makes tokens"],
    ]);
    for (const wrong of ["{", JSON.stringify([{ token: TOKEN, ...entry, scopes: ["all"] }])]) {
      const { code, rows, out, err } = await doctor({ ...secret, SLUICE_TOKENS: wrong });
      expect([code, byAbout(rows)["tokens"]]).toEqual([
        1,
        [
          "problem",
          expect.stringContaining("SLUICE_TOKENS"),
          "correct the variable; deployments answer 503 until then",
        ],
      ]);
      expect(out + err).not.toContain(TOKEN);
    }
  });

  test("as sluice token prints them, with their quotes", async () => {
    const value = `'${JSON.stringify([hashed])}'`;
    expect(await tokens({ SLUICE_TOKENS: value })).toEqual([
      0,
      ["ok", "1 token in SLUICE_TOKENS", undefined],
    ]);
  });

  test("of the deployment's file", async () => {
    const file = join(folder.path, ".env");
    const value = JSON.stringify([hashed]);
    await writeFile(file, `# comment\nSLUICE_TOKENS='${value}'\nCRON_SECRET="${secret.CRON_SECRET}"\n`);
    expect(await tokens({}, "--env-file", file)).toEqual([0, ["ok", "1 token in SLUICE_TOKENS", undefined]]);
  });

  test("of the caller: what it may do, and that Redis is not checked without the scope view", async () => {
    const whole = await rig.sluice("a deployment", ["doctor"]);
    expect(byAbout(whole.rows)["token"]).toEqual(["ok", "enqueue,consume,admin for *", undefined]);
    const { code, rows } = await rig.sluice("a deployment", ["doctor"], {
      env: { SLUICE_TOKEN: ENQUEUE_TOKEN },
    });
    expect([code, byAbout(rows)]).toEqual([
      0,
      {
        token: ["ok", "enqueue for emails*", undefined],
        Redis: ["unknown", "not checked", "use a token with the scope view"],
      },
    ]);
  });
});

describe.concurrent("what cannot be reached ends with 3 and advice", () => {
  test("a Redis that is not there", async () => {
    const { code, rows, err } = await runHere(["doctor"], { REDIS_URL: "redis://:secret@127.0.0.1:1" });
    expect(code).toBe(3);
    expect(byAbout(rows)["connection"]).toEqual([
      "problem",
      expect.stringMatching(/^the database at 127\.0\.0\.1:1: .*ECONNREFUSED/),
      "is the URL right, does Redis run, and does a firewall keep this machine out?",
    ]);
    expect(err).toMatch(/\nsluice: the database at 127\.0\.0\.1:1: .*ECONNREFUSED/);
    expect(err).not.toContain("secret");
  });

  test("a Redis that does not answer", async () => {
    const silent = createServer(() => {}).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const since = performance.now();
    const { code, rows } = await runHere(["doctor"], { REDIS_URL: `redis://127.0.0.1:${port}` });
    expect([code, byAbout(rows)["connection"]?.[0]]).toEqual([3, "problem"]);
    expect(performance.now() - since).toBeLessThan(12_000);
    silent.close();
  });

  test("a Redis that refuses the password", async () => {
    const redis = await startRedis();
    const transport = resp(redis.url);
    await transport.send([["CONFIG", "SET", "requirepass", "right"]]);
    await transport.close();
    const url = redis.url.replace("redis://", "redis://:wrong-password@");
    const { code, rows, err } = await runHere(["doctor"], { REDIS_URL: url });
    await redis.stop();
    expect([code, byAbout(rows)["connection"]?.[2]]).toEqual([
      3,
      "check the password or token of Redis, and what its user may do",
    ]);
    expect(err).not.toContain("wrong-password");
  });

  test("a token that the deployment does not know", async () => {
    const { code, rows, err } = await rig.sluice("a deployment", ["doctor"], {
      env: { SLUICE_TOKEN: "wrong-0123456789abcdef" },
    });
    expect([code, byAbout(rows)["connection"]?.[2]]).toEqual([
      3,
      "set SLUICE_TOKEN to a token that is in the deployment's SLUICE_TOKENS: sluice token makes one",
    ]);
    expect(err).not.toContain("wrong-");
  });

  test("a deployment whose Redis does not answer", async () => {
    rig.gateway.faults.add({ kind: "cut", match: { times: "always" } });
    const { code, err } = await rig.sluice("a deployment", ["doctor"]);
    rig.gateway.faults.clear();
    expect(code).toBe(3);
    expect(err).toContain("HTTP 504 (redis_unreachable)");
    expect(err).not.toContain("Is http");
  });
});
