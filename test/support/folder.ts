import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach } from "vitest";

/** A folder for each test's files, which is removed after it. */
export function useFolder(): { readonly path: string } {
  const folder = { path: "" };
  beforeEach(async () => {
    folder.path = await mkdtemp(join(tmpdir(), "sluice-test-"));
  });
  afterEach(() => rm(folder.path, { recursive: true, force: true }));
  return folder;
}
