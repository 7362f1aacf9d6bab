import { fileURLToPath } from "node:url";
import { createTestHarness, type TestHarness } from "wrangler";

export { createTestHarness, getPlatformProxy, type TestHarness } from "wrangler";

// No output, and no environment from outside.
Object.assign(process.env, {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
});

/** A Worker in workerd. */
export interface RunningWorker {
  readonly server: TestHarness;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Runs its cron once. Resolves when the invocation has ended. */
  readonly cron: () => Promise<unknown>;
}

/**
 * Bundles a Worker as wrangler deploys it, and runs it.
 * @param config its configuration, from the root of the repository
 * @param others configurations of Workers beside it, which it is bound to
 */
export async function startWorker(
  config: string,
  secrets: Readonly<Record<string, string>>,
  others: readonly string[] = [],
): Promise<RunningWorker> {
  const workers = [config, ...others].map((file) => ({
    configPath: fileURLToPath(new URL(`../../${file}`, import.meta.url)),
    secrets: { ...secrets },
  }));
  const server = createTestHarness({ workers });
  await server.listen();
  return {
    server,
    async fetch(request) {
      const { pathname, search } = new URL(request.url);
      const body = request.body ? new Uint8Array(await request.arrayBuffer()) : undefined;
      const { method, headers } = request;
      const response = await server.fetch(pathname + search, {
        method,
        headers: Object.fromEntries(headers),
        ...(body && { body }),
      });
      return new Response(
        method === "HEAD" || response.status === 204 ? null : await response.arrayBuffer(),
        {
          status: response.status,
          headers: Object.fromEntries(response.headers),
        },
      );
    },
    cron: () => server.getWorker().scheduled({ cron: "* * * * *", scheduledTime: new Date() }),
  };
}
