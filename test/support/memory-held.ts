import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** Used heap, in bytes, after garbage collection. */
export function memoryHeld(): number {
  setFlagsFromString("--expose_gc");
  (runInNewContext("gc") as () => void)();
  return process.memoryUsage().heapUsed;
}
