// Set-up of `npm run test:embedded`: skips the tests of not-run.ts, each with its reason.

import { relative } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach } from "vitest";
import { notRun } from "./not-run.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

beforeEach(({ task, skip }) => {
  const file = relative(root, task.file.filepath).replaceAll("\\", "/");
  const name = task.fullTestName;
  const found = notRun.find(
    (one) => one.file === file && one.test !== undefined && name.startsWith(one.test),
  );
  if (found) skip(`not run on the embedded store: ${found.reason}`);
});
