import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";
import { startGateway } from "../../src/local/index.ts";
import { essentials } from "../support/environment.ts";
import { startRedis } from "../support/redis.ts";
import { bodies, deep, hidden, shown, useRepeatingRedis, ways } from "./repeating-redis.ts";
import { asker, secrets, tokens } from "./served.ts";

// What processes log.

const repeating = useRepeatingRedis();

it("sluice serve logs no secret and no payload, whatever Redis and its clients do", async () => {
  repeating.way = ways["an unknown command, with its arguments"]!;
  const main = fileURLToPath(new URL("../../src/cli/main.ts", import.meta.url));
  const env = {
    ...essentials,
    UPSTASH_REDIS_REST_URL: repeating.url,
    UPSTASH_REDIS_REST_TOKEN: hidden.redisToken,
    SLUICE_TOKENS: JSON.stringify(tokens),
    CRON_SECRET: secrets.cron,
    SLUICE_WAKE_SECRET: `whsec_${hidden.wake}`,
    SLUICE_WAKE_URL: `${repeating.url}/wake`,
  };
  const args = [main, "serve", "--port", "0", "--host", "127.0.0.1", "--every", "1s"];
  const child = spawn(process.execPath, args, { env });
  onTestFinished(() => void child.kill("SIGKILL"));
  let written = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk: Buffer) => (written += chunk.toString()));
  }
  const ended = once(child, "close");
  await expect.poll(() => /answers at (\S+)/.exec(written)?.[1], { timeout: 20_000 }).toBeDefined();
  const at = /answers at (\S+)/.exec(written)![1]!;
  const ask = asker((request) => {
    const { pathname, search } = new URL(request.url);
    return fetch(new Request(`${at}${pathname}${search}`, request));
  });
  for (const words of Object.values(ways).slice(0, 3)) {
    repeating.way = words;
    for (const [route, json] of Object.entries(bodies)) {
      const [method = "", path = ""] = route.split(" ");
      const answer = await ask(method, path.replace(":queue", "q").replace(":schedule", "s"), { json });
      expect([route, answer.status >= 500, shown(deep(answer))]).toEqual([route, true, []]);
    }
  }
  const wake = await ask("POST", "/wake", { as: null, json: { type: "sluice.wake", data: { queue: "q" } } });
  expect([wake.status, shown(deep(wake))]).toEqual([401, []]);
  child.kill("SIGTERM");
  await ended;
  // It did log faults.
  expect(written).toContain('"code":"redis_error"');
  expect(shown(written)).toEqual([]);
});

it("the local gateway logs no secret and no payload, even if its Redis is lost during a request", async () => {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  let logged = "";
  const gateway = await startGateway({
    redisUrl: redis.url,
    token: hidden.redisToken,
    log: (line) => void (logged += `${line}\n`),
  });
  onTestFinished(() => gateway.close());
  const send = (path: string, body: string, token: string = hidden.redisToken) =>
    fetch(`${gateway.url}${path}`, { method: "POST", headers: { authorization: `Bearer ${token}` }, body });
  const refused = await send("/", JSON.stringify(["GET", "k"]), secrets.admin);
  expect([refused.status, shown(await refused.text())]).toEqual([401, []]);
  expect((await send("/", JSON.stringify(["SET", "k", hidden.payload]))).status).toBe(200);
  await redis.stop();
  const bodies = [
    ["SET", "k", hidden.payload],
    ["EVAL", `error('${hidden.payload}')`, "0"],
  ].map((one) => JSON.stringify(one));
  for (const body of [...bodies, `{"${hidden.payload}"`, `["${hidden.payload}"]`]) {
    const answer = await send("/", body);
    expect([answer.status >= 400, shown(await answer.text()).includes("redisToken")]).toEqual([true, false]);
  }
  await gateway.close();
  // It did log that Redis was lost.
  expect([logged === "", shown(logged)]).toEqual([false, []]);
});
