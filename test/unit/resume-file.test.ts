import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, test, vi } from "vitest";
import { ResumeFile } from "../../src/cli/jsonl/resume-file.ts";

const DAY = 86_400_000;
const line = { number: 1, text: "1", value: 1, end: 2, bytes: 2 };

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "sluice-resume-"));
});
afterEach(async () => {
  vi.useRealTimers();
  await rm(folder, { recursive: true });
});

test.each(["progress", undefined])("a run in which a day passes goes on, with the file %s", (name) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const progress = new ResumeFile(name && join(folder, name), "emails");
  for (let requests = 0; requests < 3; requests++) {
    vi.setSystemTime(Date.now() + 2 * DAY);
    progress.checkAge(DAY);
    progress.take([line]);
  }
});
