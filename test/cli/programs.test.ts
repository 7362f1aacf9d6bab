import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, test } from "vitest";
import { useFolder } from "../support/folder.ts";
import { runBash, startSluice } from "./process.ts";
import { useCli } from "./rig.ts";

// What only the program shows, in a process of its own.

const rig = useCli();
const folder = useFolder();

test("a reader that has enough ends it quietly", async () => {
  const payload = "x".repeat(1_000);
  await rig.queue().enqueueMany(Array.from({ length: 1_000 }, () => ({ payload })));
  const piped = "set -o pipefail; sluice ls emails --payloads --limit 1000 | head -1";
  const { code, out, err } = await runBash(piped, rig.environmentOf("a deployment"));
  expect([code, out.split("\n").length, err]).toEqual([0, 2, ""]);
});

test("its exit codes are those of the commands", async () => {
  const database = rig.environmentOf("the database");
  expect(await startSluice(["show", "emails", "nope"], database).ended).toMatchObject({ code: 1 });
  await rig.queue().enqueue(1);
  const { child, ended } = startSluice(["stats", "emails", "--watch"], database);
  await once(child.stdout, "data");
  child.kill("SIGINT");
  expect(await ended).toMatchObject({ code: 130, signal: null });
});

test("a file of variables that is missing is its own error, not one of Node", async () => {
  for (const args of [["--env", "nope.env"], ["--env=nope.env"]]) {
    const { code, err } = await startSluice(["queues", ...args], {}).ended;
    expect([code, err]).toEqual([2, expect.stringMatching(/^sluice: --env nope\.env: there is no file \//)]);
  }
});

test("deploy has Node load the module, and ends although the module keeps a timer", async () => {
  const source = pathToFileURL(join(import.meta.dirname, "../../src/index.ts")).href;
  const file = join(folder.path, "queues.ts");
  await writeFile(
    file,
    `import { defineQueue } from ${JSON.stringify(source)};
    export const a: object = defineQueue("a"); setInterval(() => {}, 1_000);`,
  );
  const { code, out, err } = await startSluice(["deploy", file], rig.environmentOf("the database")).ended;
  expect([code, err, JSON.parse(out)]).toEqual([0, "", { queue: "a", status: "unchanged", declares: "" }]);
});

test("after a SIGKILL --resume goes on, and each line is enqueued once, although tasks have ended meanwhile", async () => {
  const numbers = Array.from({ length: 3_000 }, (_, i) => i + 1);
  const [file, progress] = [join(folder.path, "many.jsonl"), join(folder.path, "progress")];
  await writeFile(file, numbers.map((n) => `{"n":${n}}\n`).join(""));
  const args = ["enqueue", "emails", "--file", file, "--resume", progress];
  const env = rig.environmentOf("the database");
  // The scripts are known to Redis then.
  await rig.queue("other").enqueue(1);
  // The request that waits for its answer has run, or runs when all is over.
  const faults = [];
  for (const runs of [true, false]) {
    const fault = rig.gateway.faults.add({ kind: "stall", runs, match: { command: "EVALSHA", nth: 3 } });
    faults.push(fault);
    const { child, ended } = startSluice(args, env);
    await expect.poll(() => fault.held).toBe(1);
    child.kill("SIGKILL");
    expect(await ended).toMatchObject({ signal: "SIGKILL" });
  }
  const found: number[] = [];
  const takeAll = async () => {
    for (let tasks; (tasks = await rig.queue().dequeue({ max: 1_000 })).length > 0;)
      for (const task of tasks) {
        found.push(task.payload.n);
        await task.complete();
      }
  };
  await takeAll();
  expect(await startSluice(args, env).ended).toMatchObject({ code: 0 });
  for (const fault of faults) await fault.release();
  await takeAll();
  expect(found).toEqual(numbers);
});
