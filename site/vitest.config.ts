import { defineConfig } from "vitest/config";

export default defineConfig({
  test: { dir: import.meta.dirname, testTimeout: 120_000, hookTimeout: 60_000, passWithNoTests: false },
});
