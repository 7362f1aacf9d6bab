// Import it before a program of test/, so that `SLUICE_LANES=full` applies to the program as it does to the
// tests.

import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { laneOf } from "../test/support/lanes.ts";

registerHooks({
  load(url, context, next) {
    const source = url.startsWith("file:") ? laneOf(fileURLToPath(url)) : undefined;
    return source === undefined
      ? next(url, context)
      : { format: "module-typescript", source, shortCircuit: true };
  },
});
