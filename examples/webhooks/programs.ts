import { type ChildProcess, fork, type ForkOptions } from "node:child_process";
import { fileURLToPath } from "node:url";

/** How a program ended. */
export interface Ending {
  readonly status: number | null;
  /** The end of its standard error. */
  readonly complaint: string;
}

export interface Program {
  readonly process: ChildProcess;
  readonly ended: Promise<Ending>;
}

/** Starts a program of this folder. The settings are added to the environment of this process. */
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

/** Rejects if the program ends with another status than 0. */
export async function succeeds(name: string, { ended }: Program): Promise<void> {
  const { status, complaint } = await ended;
  if (status !== 0) throw new Error(`${name} failed:\n${complaint}`);
}
