import { type ChildProcess, spawn, type StdioOptions } from "node:child_process";

/** How a process ended. */
export interface Ending {
  /** Its exit status; null where a signal ended it or it did not start. */
  readonly status: number | null;
  /** Such as `ended with status 1`. */
  readonly words: string;
}

/** A process that this one started, with all that it starts in turn. */
export interface Child {
  readonly process: ChildProcess;
  /** Resolves when it has ended, for whatever reason; it never rejects. */
  readonly ended: Promise<Ending>;
  /** Asks it to end, and after 5 s insists. Nothing that it started is left. */
  stop(): Promise<Ending>;
}

export interface ChildOptions {
  /** The whole environment of the process. @default that of this process */
  readonly env?: NodeJS.ProcessEnv | undefined;
  readonly cwd?: string | undefined;
  readonly stdio: StdioOptions;
}

const grace = 5_000;

/**
 * Starts a process as the head of a group of its own. A Ctrl-C in the terminal therefore does not reach
 * it: who started it decides in which order things end. It ends with {@link Child.stop}, or with this
 * process, even where that is killed.
 */
export function startChild(command: string, args: readonly string[], options: ChildOptions): Child {
  const { env, cwd, stdio } = options;
  const child = spawn(command, args, { env, cwd, stdio, detached: true });
  const { pid } = child;
  const guard = pid === undefined ? undefined : startGuard(pid);

  const ended = new Promise<Ending>((resolve) => {
    child.once("error", ({ message }) => resolve({ status: null, words: `does not start: ${message}` }));
    child.once("exit", (status, signal) => {
      if (pid !== undefined) killGroup(pid);
      guard?.kill("SIGKILL");
      resolve({ status, words: signal ? `was ended by ${signal}` : `ended with status ${status}` });
    });
  });

  return {
    process: child,
    ended,
    async stop() {
      // Only the head is asked: it knows in which order the rest of its group has to end.
      child.kill("SIGTERM");
      const insist = setTimeout(() => pid !== undefined && killGroup(pid), grace);
      const ending = await ended;
      clearTimeout(insist);
      return ending;
    },
  };
}

/** A shell that waits until this process is gone, which closes its input, and then kills the group. */
function startGuard(group: number): ChildProcess {
  const script = 'trap "" INT TERM HUP; read -r _; kill -s KILL -- "-$1" 2>/dev/null';
  const guard = spawn("sh", ["-c", script, "guard", String(group)], {
    stdio: ["pipe", "ignore", "ignore"],
    detached: true,
  });
  // Where there is no sh, a killed parent leaves its children behind; all else works.
  guard.on("error", () => {});
  guard.stdin?.on("error", () => {});
  guard.unref();
  return guard;
}

function killGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // Nobody is left in it.
  }
}
