import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startRedis } from "../support/redis.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  version: string;
  exports: Record<string, unknown>;
};
const entries = Object.keys(manifest.exports).filter((entry) => entry !== "./package.json");

/** The project's own Node is newer than the oldest that the package promises: prefer the machine's. */
const node =
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"))
    .find((path) => existsSync(path)) ?? process.execPath;

/** An empty project with the packed tarball installed. */
let project: string;

beforeAll(async () => {
  project = await mkdtemp(join(tmpdir(), "sluice-package-"));
  const packed = await run("npm", ["pack", "--json", "--ignore-scripts", "--pack-destination", project], {
    cwd: root,
  });
  const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
  await writeFile(join(project, "package.json"), JSON.stringify({ private: true, type: "module" }));
  const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
  await run("npm", ["install", ...flags, join(project, filename)], { cwd: project });
});

afterAll(() => rm(project, { recursive: true, force: true }));

async function runScript(source: string, ...args: string[]): Promise<unknown> {
  await writeFile(join(project, "script.js"), source);
  const { stdout } = await run(node, ["script.js", ...args], { cwd: project });
  return JSON.parse(stdout);
}

test("each entry of the exports map can be imported", async () => {
  const names = entries.map((entry) => entry.replace(".", "sluice-queue"));
  const found = await runScript(
    `const counts = [];
     for (const name of ${JSON.stringify(names)}) counts.push(Object.keys(await import(name)).length > 0);
     console.log(JSON.stringify(counts));`,
  );
  expect(found).toEqual(names.map(() => true));
});

test("a task goes all the way through the installed package", async () => {
  const redis = await startRedis();
  try {
    const seen = await runScript(
      `import { Queue } from "sluice-queue";
       import { resp } from "sluice-queue/resp";

       const transport = resp(process.argv[2]);
       const emails = new Queue("emails", { transport });
       const { id, created } = await emails.enqueue({ to: "a@example.com" }, { id: "welcome-17" });
       const [task] = await emails.dequeue();
       const completed = await task.complete({ sent: true });
       const { state, result } = await emails.get(id);
       await transport.close();
       console.log(JSON.stringify({ id, created, payload: task.payload, ok: completed.ok, state, result }));`,
      redis.url,
    );
    expect(seen).toEqual({
      id: "welcome-17",
      created: true,
      payload: { to: "a@example.com" },
      ok: true,
      state: "completed",
      result: { sent: true },
    });
  } finally {
    await redis.stop();
  }
});

test("the command is installed and knows its version", async () => {
  const { stdout } = await run(node, [join(project, "node_modules/.bin/sluice"), "--version"]);
  expect(stdout.trim()).toBe(manifest.version);
});

test("the declarations check in a strict project without Node's types", async () => {
  await writeFile(
    join(project, "use.ts"),
    `import { Queue, sweep, SluiceError, type Transport } from "sluice-queue";
     import { createApp } from "sluice-queue/http";
     import { resp } from "sluice-queue/resp";
     import { upstash } from "sluice-queue/upstash";
     import worker from "sluice-queue/cloudflare";

     const transport: Transport = upstash({ url: "https://example.com", token: "t" });
     const emails = new Queue<{ to: string }>("emails", { transport, lease: "1m", maxAttempts: 5 });
     const { id, created }: { id: string; created: boolean } = await emails.enqueue({ to: "a" }, { delay: "30s" });
     const [task] = await emails.dequeue({ max: 10 });
     export const to: string | undefined = task?.payload.to;
     // @ts-expect-error a payload of another type
     await emails.enqueue({ to: 1 });
     export const all = [id, created, sweep, SluiceError, createApp, resp, worker.fetch];`,
  );
  const options = [
    "--strict",
    "--noEmit",
    "--target",
    "es2023",
    "--module",
    "nodenext",
    "--lib",
    "es2023,dom",
  ];
  const tsc = join(root, "node_modules/typescript/bin/tsc");
  const { stdout } = await run(process.execPath, [tsc, ...options, "use.ts"], { cwd: project }).catch(
    (error: { stdout: string }) => error,
  );
  expect(stdout).toBe("");
});
