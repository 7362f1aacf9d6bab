// Preload this module (`node --import`), so that `SLUICE_LANES=full` applies to a program of test/ as it does
// to the tests: their scripts then have no plain lane.

import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";
import { scriptsOf } from "../test/support/lanes.ts";

registerHooks({
  load(url, context, next) {
    const source = url.startsWith("file:") ? scriptsOf(fileURLToPath(url)) : undefined;
    return source === undefined
      ? next(url, context)
      : { format: "module-typescript", source, shortCircuit: true };
  },
});
