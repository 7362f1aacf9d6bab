import { onTestFinished, vi } from "vitest";

type Level = "debug" | "info" | "warn" | "error";

/** The lines of JSON that are written to the console on these levels until the test ends, in their order. */
export function consoleLines(...levels: readonly Level[]): Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  for (const level of levels) {
    const spy = vi
      .spyOn(console, level)
      .mockImplementation((line) => void lines.push(JSON.parse(String(line))));
    onTestFinished(() => spy.mockRestore());
  }
  return lines;
}

/** Keeps failures off the console until mocks are restored. */
export function quietFailures(): void {
  for (const level of ["warn", "error"] as const) vi.spyOn(console, level).mockImplementation(() => {});
}
