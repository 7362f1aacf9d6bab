import { defineConfig } from "vitest/config";

/** The test files of `npm run test:long`. */
export default defineConfig({
  test: {
    dir: import.meta.dirname,
    include: ["*.test.ts"],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    passWithNoTests: false,
  },
});
