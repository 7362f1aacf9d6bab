import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Installs the packed tarball; run by `npm run test:package`.
    exclude: ["test/package/**"],
    pool: "forks",
    // Most of their time tests wait for other processes. One a core less, as is the default, would be one of two.
    maxWorkers: 2,
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
  },
});
