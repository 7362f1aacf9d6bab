/** Chromium for the tests, the bench and the pictures of the dashboard. */
import { type Browser, chromium } from "playwright-core";
import { findChromium } from "../../tools/dashboard/chromium.mjs";

export type { Page } from "playwright-core";

/** Starts Chromium without a window. It makes no requests of its own. */
export function launchChromium(): Promise<Browser> {
  const executablePath = findChromium();
  if (executablePath === undefined) throw new Error("chromium is needed and is not on the PATH");
  return chromium.launch({
    executablePath,
    args: [
      // As root, Chromium starts only without its sandbox.
      ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
}
