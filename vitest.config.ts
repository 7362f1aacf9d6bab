import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Installs the packed tarball; run by `npm run test:package`.
    exclude: ["test/package/**"],
    pool: "forks",
    testTimeout: 30_000,
    hookTimeout: 60_000,
    passWithNoTests: false,
  },
});
