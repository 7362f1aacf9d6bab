import { vi } from "vitest";
import { realTiming } from "../../src/retry.ts";

/** Lets the waits between the tries of a request pass at once, until mocks are restored. */
export function skipWaits(): void {
  let skipped = 0;
  vi.spyOn(realTiming, "now").mockImplementation(() => performance.now() + skipped);
  vi.spyOn(realTiming, "sleep").mockImplementation(async (ms) => void (skipped += ms));
}
