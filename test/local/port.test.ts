import { once } from "node:events";
import { createServer, type AddressInfo, type Server } from "node:net";
import { afterEach, expect, test } from "vitest";
import { freePort, onFreePort } from "../../src/local/stack/port.ts";

const servers: Server[] = [];
afterEach(() => servers.splice(0).forEach((server) => server.close()));

async function listen(port: number): Promise<number> {
  const server = createServer();
  servers.push(server);
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("the preferred port is taken if it is free, otherwise another", async () => {
  const preferred = await freePort();
  expect(await onFreePort(preferred, listen)).toBe(preferred);
  expect(await freePort(preferred)).not.toBe(preferred);
  expect(await onFreePort(preferred, listen)).not.toBe(preferred);
});

test("another port is taken if it was taken between the check and the start", async () => {
  const asked: number[] = [];
  const port = await onFreePort(await freePort(), async (candidate) => {
    asked.push(candidate);
    if (asked.length === 1) await listen(candidate);
    return listen(candidate);
  });
  expect(asked).toHaveLength(2);
  expect(port).toBe(asked[1]);
});

test("a failure for another reason is not tried again", async () => {
  let tries = 0;
  const failing = onFreePort(undefined, () => {
    tries++;
    return Promise.reject(new Error("no memory"));
  });
  await expect(failing).rejects.toThrow("no memory");
  expect(tries).toBe(1);
});
