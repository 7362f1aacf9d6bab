import type { PartsOnDemand } from "./optional-parts.ts";

/** The optional parts, for platforms whose bundles load code on demand: each is loaded at its first use. */
export const onDemand: PartsOnDemand = {
  dashboard: async () => (await import("../dashboard/index.ts")).dashboard,
  operations: async () => (await import("../http/operations/index.ts")).operations,
  docs: async () => (await import("../http/docs/index.ts")).docs,
  deepSweep: async () => (await import("../open/deep-sweep/index.ts")).deepSweep,
};
