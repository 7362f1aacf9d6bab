import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";

/** How a process ended. */
export interface Ending {
  /** The exit status; null if a signal ended the process or it did not start. */
  readonly status: number | null;
  /** Such as `ended with status 1`. */
  readonly description: string;
}

/** A child process, with all processes that it starts. */
export interface Child {
  readonly process: ChildProcess;
  /** Resolves when the process has ended, for any reason. Never rejects. */
  readonly ended: Promise<Ending>;
  /** Sends SIGTERM, and after 5 s SIGKILL. Ends all processes that it started. */
  stop(): Promise<Ending>;
}

export interface ChildOptions {
  /** The environment of the process. @default the environment of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  readonly stdio: StdioOptions;
}

const grace = 5_000;

/**
 * Starts a process as the leader of its own process group. A Ctrl-C in the terminal does not reach it, so
 * this process decides the order in which things end. It ends by {@link Child.stop}, or with this process,
 * even if this process is killed.
 */
export function startChild(command: string, args: readonly string[], options: ChildOptions): Child {
  const { env, cwd, stdio } = options;
  const child = spawn(command, args, { env, cwd, stdio, detached: true });
  const { pid } = child;
  const guard = pid === undefined ? undefined : startGuard(pid);

  const ended = new Promise<Ending>((resolve) => {
    child.once("error", ({ message }) =>
      resolve({ status: null, description: `does not start: ${message}` }),
    );
    child.once("exit", (status, signal) => {
      if (pid !== undefined) killGroup(pid);
      guard?.kill("SIGKILL");
      resolve({ status, description: signal ? `was ended by ${signal}` : `ended with status ${status}` });
    });
  });

  return {
    process: child,
    ended,
    async stop() {
      // Only the leader gets the signal. It ends the rest of its group in the right order.
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => pid !== undefined && killGroup(pid), grace);
      const ending = await ended;
      clearTimeout(killTimer);
      return ending;
    },
  };
}

/** Starts a shell that kills the group when this process ends, which closes the shell's input. */
function startGuard(group: number): ChildProcess {
  const script = 'trap "" INT TERM HUP; read -r _; kill -s KILL -- "-$1" 2>/dev/null';
  const guard = spawn("sh", ["-c", script, "guard", String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without sh, the children survive if this process is killed. Everything else works.
  guard.on("error", () => {});
  guard.stdin?.on("error", () => {});
  guard.unref();
  return guard;
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // The group is empty.
  }
}
