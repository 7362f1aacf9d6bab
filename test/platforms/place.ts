import { listen } from "../../src/deploy/process/node-listener.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";
import { secrets, tokens } from "../http/served.ts";
import { startRedis, type TestRedis } from "../support/redis.ts";

export interface Deployed {
  readonly fetch: (request: Request) => Promise<Response>;
  /** Makes the platform's cron call it once, and waits for the end if the platform reports it. */
  readonly cron: () => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

export const wakeSecret = `whsec_${btoa("a secret of at least 24 bytes")}`;

/** The deployment's Redis, and the environment that it needs. */
export interface Place {
  readonly redis: TestRedis;
  readonly gateway: Gateway;
  readonly env: Readonly<Record<string, string>>;
}

/** A Redis behind a gateway, and an environment that names it. */
export async function openPlace(): Promise<Place & { close(): Promise<void> }> {
  const redis = await startRedis();
  const gateway = await startGateway({ redisUrl: redis.url });
  const env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify(tokens),
    CRON_SECRET: secrets.cron,
    SLUICE_WAKE_SECRET: wakeSecret,
  };
  return {
    redis,
    gateway,
    env,
    async close() {
      await gateway.close();
      await redis.stop();
    },
  };
}

export interface Mail {
  readonly key: string;
  readonly to: string;
  readonly status: number;
}

/** A mail server that accepts `b@…` at the second try, and `c@…` never. */
export async function openMailServer() {
  const mails: Mail[] = [];
  const answer = async (request: Request) => {
    const { to } = (await request.json()) as { to: string };
    const first = mails.every((mail) => mail.to !== to);
    const status = to.startsWith("c@") ? 422 : to.startsWith("b@") && first ? 503 : 202;
    mails.push({ key: request.headers.get("idempotency-key") ?? "undefined", to, status });
    return new Response(null, { status });
  };
  const { port, stop } = await listen(answer, { port: 0, hostname: "127.0.0.1" });
  return {
    url: `http://127.0.0.1:${port}/`,
    mails: () => mails.toSorted((x, y) => (x.to < y.to ? -1 : x.to > y.to ? 1 : 0)),
    close: async () => void (await stop()),
  };
}
