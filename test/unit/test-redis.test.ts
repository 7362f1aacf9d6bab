import { spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "@redis/client";
import { expect, test } from "vitest";
import { startRedis } from "../support/redis.ts";

async function says(url: string, command: string[]): Promise<unknown> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on("error", () => {});
  try {
    await client.connect();
    return await client.sendCommand(command);
  } finally {
    if (client.isOpen) client.destroy();
  }
}

const answers = (url: string): Promise<boolean> =>
  says(url, ["PING"]).then(
    (reply) => reply === "PONG",
    () => false,
  );

test("each test's Redis has its own port, and ends when it is stopped", async () => {
  const servers = await Promise.all([startRedis(), startRedis(), startRedis()]);
  expect(new Set(servers.map(({ port }) => port)).size).toBe(3);
  expect(await Promise.all(servers.map(({ url }) => answers(url)))).toEqual([true, true, true]);
  await Promise.all(servers.map((server) => server.stop()));
  expect(await Promise.all(servers.map(({ url }) => answers(url)))).toEqual([false, false, false]);
});

test("a test's Redis ends if its process is killed", async () => {
  const source = `
    import { startRedis } from ${JSON.stringify(new URL("../support/redis.ts", import.meta.url).href)};
    console.log((await startRedis()).url);
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", source], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(child.stdout, "data")) as [Buffer];
  const url = line.toString().trim();
  expect(await answers(url)).toBe(true);
  child.kill("SIGKILL");
  await once(child, "exit");
  await expect.poll(() => answers(url), { timeout: 20_000 }).toBe(false);
});

test("an argument that redis-server refuses is reported with its message", async () => {
  await expect(startRedis({ args: ["--no-such-option", "1"] })).rejects.toThrow("Bad directive");
});

test("a killed Redis of a test restarts on its port, with the data of its append-only file", async () => {
  const server = await startRedis({ args: ["--appendonly", "yes", "--appendfsync", "always"] });
  await says(server.url, ["SET", "kept", "yes"]);
  await server.kill();
  expect(await answers(server.url)).toBe(false);
  await server.restart();
  expect(await says(server.url, ["GET", "kept"])).toBe("yes");
  await server.stop();
  expect(await answers(server.url)).toBe(false);
});
