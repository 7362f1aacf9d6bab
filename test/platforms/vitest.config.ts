import { defineConfig } from "vitest/config";
import all from "../../vitest.config.ts";

const { projects: _, ...settings } = all.test ?? {};

export default defineConfig({
  ...all,
  // Its tests start processes, of which some fill a core.
  test: { ...settings, include: ["test/platforms/**/*.test.ts"], maxWorkers: 2, silent: "passed-only" },
});
