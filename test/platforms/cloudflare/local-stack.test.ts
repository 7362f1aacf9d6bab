import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { descendants, survivors } from "../../local/processes.ts";
import { useFolder } from "../../support/folder.ts";

const folder = useFolder();

interface Started {
  readonly url: string;
  readonly tokens: { readonly all: string };
}

async function startProgram(): Promise<{ program: ChildProcess; started: Started }> {
  const path = fileURLToPath(new URL("stack-program.ts", import.meta.url));
  const program = fork(path, [folder.path], { stdio: ["ignore", "ignore", "inherit", "ipc"], execArgv: [] });
  const [started] = (await once(program, "message")) as [Started];
  return { program, started };
}

async function enqueue({ url, tokens }: Started): Promise<number> {
  const response = await fetch(`${url}/v1/queues/hello/tasks`, {
    method: "POST",
    headers: { authorization: `Bearer ${tokens.all}`, "content-type": "application/json" },
    body: JSON.stringify({ payload: { to: "you" } }),
  });
  await response.body?.cancel();
  return response.status;
}

// How a stack on Node ends by each signal is tested with `sluice dev`.
test("a signal leaves neither a process nor a file; until then the Worker's files are in the stack's folder", async () => {
  const { program, started } = await startProgram();
  expect(await enqueue(started)).toBe(201);
  // One or two, as miniflare starts a second instance for its proxy at its own time.
  const kept = readdirSync(join(folder.path, "worker"));
  expect(kept).not.toEqual([]);
  expect(kept.filter((name) => !name.startsWith("miniflare-"))).toEqual([]);
  const processes = descendants(program.pid as number);
  expect(processes.map(({ command }) => command)).toEqual(
    expect.arrayContaining(["redis-server", "workerd"]),
  );
  program.kill("SIGHUP");
  expect(await once(program, "exit")).toEqual([0, null]);
  expect(await survivors(processes)).toEqual([]);
  expect(readdirSync(join(folder.path, "worker"))).toEqual([]);
});

test("a stack whose process is killed leaves no process behind", async () => {
  const { program } = await startProgram();
  const processes = descendants(program.pid as number);
  program.kill("SIGKILL");
  await once(program, "exit");
  expect(await survivors(processes)).toEqual([]);
});
