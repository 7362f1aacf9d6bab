import { spawn } from "node:child_process";
import { once } from "node:events";
import { createClient } from "@redis/client";
import { expect, test } from "vitest";

async function answers(url: string): Promise<boolean> {
  const client = createClient({ url, socket: { reconnectStrategy: false } }).on("error", () => {});
  try {
    await client.connect();
    return (await client.ping()) === "PONG";
  } catch {
    return false;
  } finally {
    if (client.isOpen) client.destroy();
  }
}

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
