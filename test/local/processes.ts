import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly command: string;
}

/** The processes of this machine, except zombies. */
function processes(): Process[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // pid (command) state parent …; the command may hold anything.
        const stat = readFileSync(`/proc/${name}/stat`, "utf8");
        const [state, parent] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
        const command = stat.slice(stat.indexOf("(") + 1, stat.lastIndexOf(")"));
        return state === "Z" ? [] : [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        // It ended meanwhile.
        return [];
      }
    });
}

/** The processes that a process has started, directly or not. */
export function descendants(ancestor: number): Process[] {
  const all = processes();
  const found: Process[] = [];
  const parents = [ancestor];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const one of all.filter((candidate) => candidate.parent === parent)) {
      found.push(one);
      parents.push(one.pid);
    }
  }
  return found;
}

/** Waits until those processes have ended. Returns those that still live after some seconds. */
export async function survivors(of: readonly Process[]): Promise<string[]> {
  for (let tries = 0; ; tries++) {
    const living = processes();
    const left = of.filter(({ pid, command }) =>
      living.some((one) => one.pid === pid && one.command === command),
    );
    if (left.length === 0 || tries === 100) return left.map(({ pid, command }) => `${command} ${pid}`);
    await sleep(100);
  }
}
