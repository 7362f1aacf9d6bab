import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";
import { essentials } from "../support/environment.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));

/** Starts `sluice` in a process of its own. Its standard input is empty unless `stdin` is given. */
export function startSluice(args: readonly string[], env: NodeJS.ProcessEnv, stdin = "") {
  return startProcess([process.execPath, join(root, "src/cli/main.ts"), ...args], env, stdin);
}

/** Starts `sluice`, and waits until it has printed that; `out` is what it has printed then. Fails if it ends before. */
export async function serveSluice(args: readonly string[], env: NodeJS.ProcessEnv, ready: RegExp) {
  const { child, ended } = startSluice(args, env);
  onTestFinished(() => void child.kill("SIGKILL"));
  let out = "";
  child.stdout.on("data", (chunk: Buffer) => (out += chunk.toString()));
  const failed = ended.then(({ err }) => Promise.reject(new Error(err)));
  failed.catch(() => {});
  while (!ready.test(out)) await Promise.race([once(child.stdout, "data"), failed]);
  const end = (by: NodeJS.Signals) => {
    child.kill(by);
    return ended;
  };
  return { pid: child.pid as number, out, end };
}

/** Runs commands of bash, in which `sluice` is the program. */
export function runBash(script: string, env: NodeJS.ProcessEnv = {}) {
  const sluice = `sluice() { '${process.execPath}' '${join(root, "src/cli/main.ts")}' "$@"; }`;
  return startProcess(["bash", "--norc", "-c", `${sluice}\n${script}`], env, "").ended;
}

function startProcess([program = "", ...args]: readonly string[], env: NodeJS.ProcessEnv, stdin: string) {
  const child = spawn(program, args, {
    env: { ...essentials, ...env },
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (output.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (output.err += chunk.toString()));
  // The process may end before it has read all.
  child.stdin.on("error", () => {});
  child.stdin.end(stdin);
  const ended = once(child, "close").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
    ...output,
  }));
  return { child, ended };
}
