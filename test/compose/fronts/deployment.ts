import { startGateway } from "../../../src/local/index.ts";
import { type StartFront, storedIn } from "../front.ts";
import { deploymentOf, ownPages } from "./own-pages.ts";
import { platforms } from "./platforms.ts";

/** A deployment on a platform. */
export const deployment =
  (platform: keyof typeof platforms): StartFront =>
  async (rig, given) => {
    // Another address each time, because a process remembers by it what it has written.
    const gateway = await startGateway({ redisUrl: rig.redis.url });
    const { fetch, cron, stop } = await platforms[platform](deploymentOf(given), {
      UPSTASH_REDIS_REST_URL: gateway.url,
      UPSTASH_REDIS_REST_TOKEN: gateway.token,
      CRON_SECRET: "the-secret-of-the-cron-of-tests",
      ...(given.prefix !== undefined && { SLUICE_PREFIX: given.prefix }),
    });
    // Applies what is declared.
    await cron();
    return {
      ...ownPages(fetch),
      run: cron,
      stored: () => storedIn(rig),
      async stop() {
        await stop();
        await gateway.close();
      },
    };
  };
