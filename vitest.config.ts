import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { notRun } from "./test/embedded/not-run.ts";
import { scriptsOf } from "./test/support/lanes.ts";

/**
 * Files that start programs. They run after all others, two at a time: a program that has to wait for a core starts
 * late, and is what most other tests wait for.
 */
const PROGRAMS = [
  "test/{documents,examples,local,serving}/**/*.test.ts",
  "test/{cli/completions,cli/programs,drain/drain-processes}.test.ts",
  "test/{embedded/limits,gateway/cli,gateway/restart}.test.ts",
  "test/{http/rotation,http/secrets-logs,unit/setup,unit/test-redis}.test.ts",
];

/** Files that each run in a process of their own. All others run in those of the workers, one after the other. */
const APART = [
  "test/{compose,features/tracing}/**/*.test.ts",
  // Counts the timers of its process, to which a connection of another file may add one.
  "test/unit/event-stream.test.ts",
];

/** `npm run test:embedded` skips what only a real redis-server can do. */
const isEmbedded = process.env["SLUICE_TEST_STORE"] === "embedded";
const setupFiles = isEmbedded ? ["test/embedded/skip-not-run.ts"] : [];
const filesNotRun = isEmbedded ? notRun.flatMap(({ file, test }) => (test === undefined ? [file] : [])) : [];

const project = (name: string, test: TestProjectInlineConfiguration["test"]) => ({
  extends: true as const,
  test: { name, ...test, exclude: [...(test?.exclude ?? []), ...filesNotRun] },
});
const shared = { isolate: false, setupFiles: ["test/support/own-globals.ts", ...setupFiles] };

/** What runs apart, what runs together, and what runs after both. */
export const projects: readonly TestProjectInlineConfiguration[] = [
  project("apart", { include: APART, setupFiles }),
  // They share the command line's deployment, which other files do not need.
  project("cli", { include: ["test/cli/**/*.test.ts"], exclude: PROGRAMS, isolate: false, setupFiles }),
  project("together", {
    ...shared,
    include: ["test/**/*.test.ts"],
    // Some need more packages or programs, or longer: `npm run test:dashboard`, `test:long`, `test:package` and
    // `test:platforms` run them.
    exclude: ["test/{cli,dashboard,package,platforms}/**", "test/long/*.test.ts", ...APART, ...PROGRAMS],
  }),
  project("programs", { ...shared, include: PROGRAMS, maxWorkers: 2, sequence: { groupOrder: 1 } }),
];

/** As the paths of tsconfig.json: the examples import the package by its name. */
const source = (path: string) => join(import.meta.dirname, path);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sluice-queue$/, replacement: source("src/index.ts") },
      { find: /^sluice-queue\/testing$/, replacement: source("src/testing/index.ts") },
      { find: /^sluice-queue\/upstash$/, replacement: source("src/transports/upstash.ts") },
      { find: /^sluice-queue\/client$/, replacement: source("src/client/index.ts") },
      { find: /^sluice-queue\/encryption$/, replacement: source("src/features/encryption/aes-gcm.ts") },
      {
        find: /^sluice-queue\/opentelemetry$/,
        replacement: source("src/features/tracing/open-telemetry.ts"),
      },
      { find: /^sluice-queue\/schedules$/, replacement: source("src/open/schedules/index.ts") },
      { find: /^sluice-queue\/debounce$/, replacement: source("src/features/debounce/index.ts") },
      { find: /^sluice-queue\/topics$/, replacement: source("src/http/topics/index.ts") },
      { find: /^sluice-queue\/push$/, replacement: source("src/features/push/index.ts") },
      { find: /^sluice-queue\/endpoints$/, replacement: source("src/http/endpoints/index.ts") },
      { find: /^sluice-queue\/qstash$/, replacement: source("src/qstash/index.ts") },
      { find: /^sluice-queue\/sqs$/, replacement: source("src/adapters/sqs.ts") },
      {
        find: /^sluice-queue\/(cloudflare|vercel|next|lambda|node)$/,
        replacement: source("serverless/$1.ts"),
      },
      // An optional package, which only test/platforms/next installs.
      { find: /^next\/server\.js$/, replacement: source("test/support/next-server.ts") },
    ],
  },
  plugins: [
    {
      name: "lanes",
      enforce: "pre",
      load: (id) => scriptsOf(id),
      configureVitest({ defineCacheKeyGenerator }) {
        defineCacheKeyGenerator(({ id }) => scriptsOf(id));
      },
    },
  ],
  test: {
    pool: "forks",
    // One more than cores, because tests also wait for Redis.
    maxWorkers: Math.min(8, availableParallelism() + 1),
    // A busy machine is slow, and what hangs is rare.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    passWithNoTests: false,
    projects: [...projects],
  },
});
