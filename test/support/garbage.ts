import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Collects garbage. */
export function collectGarbage(): void {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
}

/** Used heap, in bytes, after garbage collection. */
export function memoryHeld(): number {
  collectGarbage();
  return process.memoryUsage().heapUsed;
}
