/** A deployment with the dashboard, over a gateway that counts commands as Upstash bills them. */
import { serve, type Server } from "../../serverless/node.ts";
import { type Gateway, startGateway } from "../../src/local/index.ts";

/** The tokens of the deployment, by what they may do. */
export const tokens = {
  admin: "admin-0123456789abcdef",
  view: "view-0123456789abcdef",
  veiled: "veiled-0123456789abcdef",
  emails: "emails-0123456789abcdef",
} as const;

const grants = [
  { token: tokens.admin, scopes: ["enqueue", "consume", "admin"], queues: "*" },
  { token: tokens.view, scopes: ["view"], queues: "*" },
  { token: tokens.veiled, scopes: ["view"], queues: "*", payloads: "hidden" },
  { token: tokens.emails, scopes: ["view"], queues: "emails-*" },
];

export interface DashboardDeployment {
  readonly gateway: Gateway;
  readonly server: Server;
  /** The address of the dashboard. */
  readonly url: string;
  close(): Promise<void>;
}

/** Serves the Redis at that URL, or a new embedded store. Cron runs only at the start. */
export async function deployDashboard(redisUrl?: string): Promise<DashboardDeployment> {
  const gateway = await startGateway({ redisUrl });
  const env = {
    UPSTASH_REDIS_REST_URL: gateway.url,
    UPSTASH_REDIS_REST_TOKEN: gateway.token,
    SLUICE_TOKENS: JSON.stringify(grants),
  };
  const server = await serve({
    dashboard: true,
    flows: true,
    port: 0,
    hostname: "127.0.0.1",
    every: "1d",
    signals: false,
    env,
  });
  return {
    gateway,
    server,
    url: `${server.url}/dashboard`,
    async close() {
      await server.close();
      await gateway.close();
    },
  };
}
