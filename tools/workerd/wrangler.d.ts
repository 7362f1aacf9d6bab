/** The parts of wrangler that are used here, so that the types are checked where it is not installed. */
declare module "wrangler" {
  export interface TestHarness {
    listen(): Promise<{ readonly url: URL }>;
    fetch(path: string, init?: object): Promise<Response>;
    /** The first Worker, or the named one. */
    getWorker(name?: string): {
      scheduled(event: {
        readonly cron: string;
        readonly scheduledTime?: Date;
      }): Promise<{ readonly outcome: string }>;
    };
    close(): Promise<void>;
  }
  type WorkerConfig = { readonly configPath: string } | { readonly config: object };
  export function createTestHarness(options: {
    readonly workers: readonly (WorkerConfig & { readonly secrets?: Readonly<Record<string, string>> })[];
  }): TestHarness;

  export function unstable_startWorker(options: object): Promise<{
    readonly ready: Promise<unknown>;
    readonly url: Promise<URL>;
    dispose(): Promise<void>;
  }>;
  export function unstable_readConfig(options: { readonly config: string }): {
    readonly triggers: { readonly crons?: readonly string[] };
  };
  export function getPlatformProxy(options: {
    readonly configPath: string;
    readonly persist: boolean;
  }): Promise<{ readonly env: unknown; dispose(): Promise<void> }>;
}
