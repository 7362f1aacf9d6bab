import { availableParallelism } from "node:os";
import { join, relative } from "node:path";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { notRun } from "./test/embedded/not-run.ts";
import { scriptsOf } from "./test/support/lanes.ts";

/** What begins first: files that mostly wait for other processes, and only then those that keep a core busy. */
const FIRST = [
  "test/serving/",
  "test/examples/",
  "test/local/",
  "test/cli/",
  "test/documents/",
  "test/compose/",
  "test/consumer/",
  "test/fault/",
];

/** Files that each run in a process of their own. All others run in those of the workers, one after the other. */
const APART = [
  "test/{compose,examples,local,serving,tracing}/**/*.test.ts",
  // Counts the timers of its process, to which a connection of another file may add one.
  "test/unit/event-stream.test.ts",
];

/** `npm run test:embedded` skips what only a real redis-server can do. */
const isEmbedded = process.env["SLUICE_TEST_STORE"] === "embedded";
const setupFiles = isEmbedded ? ["test/embedded/skip-not-run.ts"] : [];
const filesNotRun = isEmbedded ? notRun.flatMap(({ file, test }) => (test === undefined ? [file] : [])) : [];

/** {@link FIRST}, otherwise as Vitest has them. */
class InOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const place = ({ moduleId }: TestSpecification) => {
      const path = relative(import.meta.dirname, moduleId);
      const found = FIRST.findIndex((start) => path.startsWith(start));
      return found < 0 ? FIRST.length : found;
    };
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => place(a) - place(b));
  }
}

/** What runs apart, and what runs together. */
export const projects: readonly TestProjectInlineConfiguration[] = [
  { extends: true, test: { name: "apart", include: APART, exclude: filesNotRun, setupFiles } },
  {
    extends: true,
    // They share the command line's deployment, which other files do not need.
    test: {
      name: "cli",
      include: ["test/cli/**/*.test.ts"],
      exclude: filesNotRun,
      isolate: false,
      setupFiles,
    },
  },
  {
    extends: true,
    // They need more packages or programs, or longer: `npm run test:dashboard`, `test:long`, `test:package` and
    // `test:platforms` run them.
    test: {
      name: "together",
      include: ["test/**/*.test.ts"],
      exclude: ["test/{cli,dashboard,long,package,platforms}/**", ...APART, ...filesNotRun],
      isolate: false,
      setupFiles: ["test/support/own-globals.ts", ...setupFiles],
    },
  },
];

/** As the paths of tsconfig.json: the examples import the package by its name. */
const source = (path: string) => join(import.meta.dirname, path);

export default defineConfig({
  resolve: {
    alias: [
      { find: /^sluice-queue$/, replacement: source("src/index.ts") },
      { find: /^sluice-queue\/testing$/, replacement: source("src/testing/index.ts") },
      { find: /^sluice-queue\/upstash$/, replacement: source("src/transport/upstash.ts") },
      { find: /^sluice-queue\/client$/, replacement: source("src/client/index.ts") },
      { find: /^sluice-queue\/encryption$/, replacement: source("src/queue/values/aes-gcm.ts") },
      { find: /^sluice-queue\/opentelemetry$/, replacement: source("src/tracing/open-telemetry.ts") },
      { find: /^sluice-queue\/sqs$/, replacement: source("src/consumer/adapters/sqs.ts") },
      { find: /^sluice-queue\/(cloudflare|vercel|lambda|node)$/, replacement: source("serverless/$1.ts") },
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
    // Many tests start processes of their own. With more of them at once, some wait for a core longer than a call may.
    maxWorkers: Math.min(8, availableParallelism() + 1),
    sequence: { sequencer: InOrder },
    // A busy machine is slow, and what hangs is rare.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 20_000 } },
    passWithNoTests: false,
    projects: [...projects],
  },
});
