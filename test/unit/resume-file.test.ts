import { join } from "node:path";
import { afterEach, test, vi } from "vitest";
import { ResumeFile } from "../../src/cli/jsonl/resume-file.ts";
import { useFolder } from "../support/folder.ts";

const DAY = 86_400_000;
const line = { number: 1, text: "1", value: 1, end: 2, bytes: 2 };

const folder = useFolder();
afterEach(() => void vi.useRealTimers());

test.each(["progress", undefined])("a run in which a day passes goes on, with the file %s", (name) => {
  vi.useFakeTimers({ toFake: ["Date"] });
  const progress = new ResumeFile(name && join(folder.path, name), "emails");
  for (let requests = 0; requests < 3; requests++) {
    vi.setSystemTime(Date.now() + 2 * DAY);
    progress.checkAge(DAY);
    progress.take([line]);
  }
});
