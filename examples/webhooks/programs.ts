import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How a program ended. */
export interface Ending {
  readonly status: number | null;
  /** What it said on its standard error. */
  readonly complaint: string;
}

export interface Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Ending>;
}

/** Starts one of the programs beside this file, with some settings more than this process has. */
export function startProgram(file: string, settings: Readonly<Record<string, string>>): Program {
  const options: ForkOptions = {
    env: { ...process.env, ...settings },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  };
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), [], options);
  let complaint = "";
  child.stderr?.on("data", (chunk: Buffer) => (complaint = (complaint + chunk.toString()).slice(-4_000)));
  const ended = new Promise<Ending>((resolve) => {
    child.once("close", (status) => resolve({ status, complaint: complaint.trim() }));
  });
  return { process: child, ended };
}

/** Rejects when the program ends otherwise than with status 0. */
export async function succeeds(name: string, { ended }: Program): Promise<void> {
  const { status, complaint } = await ended;
  if (status !== 0) throw new Error(`${name} failed:\n${complaint}`);
}
