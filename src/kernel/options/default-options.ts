import type { TaskDefaults } from "./types.ts";

/** Options of a queue that are the defaults of its tasks. */
export const DEFAULT_OPTIONS = [
  "lease",
  "maxAttempts",
  "resultTtl",
  "deadTtl",
  "delay",
  "unique",
] as const satisfies readonly (keyof TaskDefaults)[];
