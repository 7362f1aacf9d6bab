import { afterAll, beforeAll } from "vitest";
import { resp } from "../../src/transports/resp.ts";
import { startRedis, type TestRedis } from "./redis.ts";

/** A Redis of the test file's own, and a transport to it. */
export function useOwnRedis() {
  let redis: TestRedis;
  let transport: ReturnType<typeof resp>;
  beforeAll(async () => {
    redis = await startRedis();
    transport = resp(redis.url);
  });
  afterAll(async () => {
    await transport.close();
    await redis.stop();
  });
  return {
    get url() {
      return redis.url;
    },
    get port() {
      return redis.port;
    },
    get transport() {
      return transport;
    },
  };
}
