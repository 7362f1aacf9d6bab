import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { useFolder } from "../support/folder.ts";

const root = resolve(import.meta.dirname, "../..");
const setup = pathToFileURL(join(root, "tools/setup.mjs")).href;
const folder = useFolder();

/** Starts a script that runs `body` in the foreground with tools/setup.mjs. */
async function foreground(body: string) {
  const inner = join(folder.path, "inner.mjs");
  const outer = join(folder.path, "outer.mjs");
  await writeFile(inner, body);
  await writeFile(
    outer,
    `import { runForeground } from "${setup}"; runForeground(process.execPath, ["${inner}"]);`,
  );
  return spawn(process.execPath, [outer], { stdio: ["ignore", "pipe", "inherit"] });
}

test("without a redis-server and a way to install it, test.mjs prints what to do", async () => {
  const env = { PATH: folder.path };
  const failure = promisify(execFile)(process.execPath, [join(root, "tools/test.mjs")], { env });
  const message =
    /^sluice: redis-server is needed and is not on the PATH\.\nDebian, Ubuntu: sudo apt-get install/;
  await expect(failure).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringMatching(message) as string,
  });
});

test("a folder that is named twice is installed once", async () => {
  await writeFile(join(folder.path, "npm"), '#!/bin/sh\necho "$*" >> calls\n', { mode: 0o755 });
  const installed = relative(root, folder.path);
  const program = `import { ensureDependencies } from "${setup}";
    await ensureDependencies(["${installed}", "${installed}"]);`;
  const env = { PATH: `${folder.path}:/usr/bin:/bin` };
  await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program], { env });
  expect(await readFile(join(folder.path, "calls"), "utf8")).toMatch(/^ci .*\n$/);
});

test("the exit status of the foreground process is passed on", async () => {
  const child = await foreground("process.exit(7)");
  expect(await once(child, "exit")).toEqual([7, null]);
});

test("a repeated signal reaches the foreground process once", async () => {
  const child = await foreground(`
    let count = 0;
    process.on("SIGINT", () => ++count === 1 && setTimeout(() => process.exit(count), 300));
    setInterval(() => {}, 1000);
    console.log("ready");
  `);
  await once(child.stdout, "data");
  child.kill("SIGINT");
  await new Promise((done) => setTimeout(done, 50));
  child.kill("SIGINT");
  expect(await once(child, "exit")).toEqual([1, null]);
});

test("a process that ends by a signal gives the exit status of a shell", async () => {
  const child = await foreground(`process.kill(process.pid, "SIGKILL")`);
  expect(await once(child, "exit")).toEqual([137, null]);
});
