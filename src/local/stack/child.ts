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
  /**
   * Sends SIGTERM, and SIGKILL if it has not ended in time. Ends all processes that it started.
   * @param within ms @default 5,000
   */
  stop(within?: number): Promise<Ending>;
}

export interface ChildOptions {
  /** The environment of the process. @default the environment of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  readonly stdio: StdioOptions;
  /**
   * Whether it leads a process group. Without one it is ended alone. Linux gives each such group as much CPU
   * time as the whole group of this process, so many of them leave this one little.
   * @default true
   */
  readonly leads?: boolean | undefined;
}

/**
 * Starts a process, as the leader of its own process group. A Ctrl-C in the terminal does not reach it, so
 * this process decides the order in which things end. It ends by {@link Child.stop}, or with this process,
 * even if this process is killed.
 */
export function startChild(command: string, args: readonly string[], options: ChildOptions): Child {
  const { env, cwd, stdio, leads = true } = options;
  const child = spawn(command, args, { env, cwd, stdio, detached: leads });
  const { pid } = child;
  // A process group has the negative id of its leader.
  const target = pid === undefined || !leads ? pid : -pid;
  const guard = target === undefined ? undefined : startGuard(target);

  const ended = new Promise<Ending>((resolve) => {
    child.once("error", ({ message }) =>
      resolve({ status: null, description: `does not start: ${message}` }),
    );
    child.once("exit", (status, signal) => {
      // The id of a process alone may be of another one by now.
      if (target !== undefined && leads) kill(target);
      guard?.kill("SIGKILL");
      resolve({ status, description: signal ? `was ended by ${signal}` : `ended with status ${status}` });
    });
  });

  return {
    process: child,
    ended,
    async stop(within = 5_000) {
      // Only the leader gets the signal. It ends the rest of its group in the right order.
      child.kill("SIGTERM");
      const killTimer = setTimeout(() => target !== undefined && kill(target), within);
      const ending = await ended;
      clearTimeout(killTimer);
      return ending;
    },
  };
}

/** Starts a shell that kills the process, or the group, when this process ends, which closes the shell's input. */
function startGuard(target: number): ChildProcess {
  const script = 'trap "" INT TERM HUP; read -r _; kill -s KILL -- "$1" 2>/dev/null';
  const guard = spawn("sh", ["-c", script, "guard", String(target)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Without sh, the children survive if this process is killed. Everything else works.
  guard.on("error", () => {});
  guard.stdin?.on("error", () => {});
  guard.unref();
  return guard;
}

function kill(target: number): void {
  try {
    process.kill(target, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
