import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { root } from "./coverage.ts";
import type { Mutant } from "./mutant.ts";
import { nearest, notOfMutants, others } from "./nearest.ts";

/** How long the nearest tests, and all others, may take before they count as hanging, ms. */
const NEAREST_WITHIN = 120_000;
const OTHERS_WITHIN = 1_500_000;

/** A test that takes this long may fail because the machine is busy, ms. */
const LONG = 2_000;

const EMBEDDED = "src/queue/redis/lua.gen.ts";

/** The result of a run of tests: the first failure, and whether it was a timeout; or that all passed. */
type Outcome = { readonly failed: string; readonly late: readonly string[] } | "passed";

/** A copy of the repository, with uncommitted changes, in which faults are made and tests run. */
export class Workshop {
  readonly #folder: string;
  #running: ChildProcess | undefined;

  static async open(): Promise<Workshop> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-mutants-"));
    const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root });
    for (const file of listed.toString().split("\0").filter(Boolean)) {
      // Deleted files are listed too.
      if (!statSync(join(root, file), { throwIfNoEntry: false })?.isFile()) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(root, file), join(folder, file));
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    return new Workshop(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Ends the running tests, and removes the copy. */
  close(): void {
    this.#killRunning();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Makes the fault, runs tests until one fails, and undoes it. A test that takes long, or times out, may
   * fail without the fault too. It is left out at first, and counts only if it passes without the fault and
   * fails again with it.
   * @param near whether the nearest tests are all that run
   * @returns what noticed the fault; undefined if nothing did
   */
  async try(mutant: Mutant, near: boolean): Promise<string | undefined> {
    const files = nearest[mutant.file] ?? [];
    const noticed = await this.#notices(mutant, files, [], NEAREST_WITHIN);
    return noticed ?? (near ? undefined : this.#notices(mutant, others, files, OTHERS_WITHIN));
  }

  async #notices(mutant: Mutant, tests: readonly string[], past: readonly string[], within: number) {
    const doubtful: string[] = [];
    for (let left = tests; left.length > 0; left = left.filter((test) => !doubtful.includes(test))) {
      const outcome = await this.#with(mutant, () => this.#test(left, [...past, ...doubtful], within));
      if (outcome === "passed") break;
      if (outcome.late.length === 0) return outcome.failed;
      doubtful.push(...outcome.late);
    }
    for (const test of doubtful) {
      if ((await this.#test([test], past, within)) !== "passed") continue;
      const again = await this.#with(mutant, () => this.#test([test], past, within));
      if (again !== "passed") return again.failed;
    }
    return undefined;
  }

  async #with<T>({ file, find, replace }: Mutant, run: () => Promise<T>): Promise<T> {
    const changed = file.startsWith("lua/") ? [file, EMBEDDED] : [file];
    const texts = changed.map((name) => readFileSync(join(this.#folder, name), "utf8"));
    try {
      // A function, because `$` has a meaning in a replacement text.
      writeFileSync(
        join(this.#folder, file),
        (texts[0] as string).replace(find, () => replace),
      );
      if (file.startsWith("lua/")) {
        execFileSync(process.execPath, ["tools/embed-lua.ts"], { cwd: this.#folder });
      }
      return await run();
    } finally {
      for (const [i, name] of changed.entries()) writeFileSync(join(this.#folder, name), texts[i] as string);
    }
  }

  /** @param passed tests that have passed already, so they are left out */
  async #test(tests: readonly string[], passed: readonly string[], within: number): Promise<Outcome> {
    const report = join(this.#folder, "mutant-report.json");
    rmSync(report, { force: true });
    const left = [notOfMutants, ...passed].map((name) => `test/${name}.test.ts`);
    const named = tests.map((name) => `test/${name}${name.includes("/") ? ".test.ts" : "/"}`);
    const options = ["--config", "test/mutants/vitest.config.ts", "--root", ".", "--bail", "1"];
    // Few files run one by one, so that each has the machine to itself, and the likeliest comes first.
    const workers = ["--maxWorkers", within === NEAREST_WITHIN ? "1" : "2"];
    const reporting = ["--reporter", "json", "--outputFile", report, "--fsModuleCachePath", "module-cache"];
    const args = ["node_modules/vitest/vitest.mjs", "run", ...options, ...workers, ...reporting, ...named];
    // A process group of its own, so that everything that the tests started can be ended with it.
    const child = spawn(process.execPath, args, {
      cwd: this.#folder,
      detached: true,
      stdio: "ignore",
      env: { ...process.env, MUTANT_TESTS: tests.join(" "), MUTANT_TESTS_LEFT: left.join(" ") },
    });
    this.#running = child;
    let hung = false;
    const timer = setTimeout(() => {
      hung = true;
      this.#killRunning();
    }, within);
    const [status] = (await once(child, "exit")) as [number | null];
    clearTimeout(timer);
    this.#killRunning();
    // It is unknown which of them hangs.
    if (hung) return { failed: "a hang", late: tests };
    return status === 0 ? "passed" : failureIn(report);
  }

  #killRunning(): void {
    const { pid } = this.#running ?? {};
    this.#running = undefined;
    if (pid === undefined) return;
    try {
      process.kill(-pid, "SIGKILL");
    } catch {
      // All of the group have ended.
    }
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly endTime: number;
    readonly assertionResults: readonly {
      readonly status: string;
      readonly fullName: string;
      readonly duration?: number | null;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/** The first test that failed. */
function failureIn(file: string): Outcome {
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  // The first failure ends the other tests, which may then fail in the middle of their work.
  for (const { name, status, message, assertionResults } of testResults.toSorted(
    (one, other) => one.endTime - other.endTime,
  )) {
    if (status !== "failed") continue;
    const failed = assertionResults.find((test) => test.status === "failed");
    const test = name.replace(/^.*\/test\/|\.test\.ts$/g, "");
    const reason = failed?.failureMessages[0] ?? message;
    const words = reason.split("\n")[0]?.slice(0, 120) || "no reason given";
    return {
      failed: `test/${test}: ${failed?.fullName ?? "the file as a whole"} (${words})`,
      late: /timed out|no useful answer/i.test(reason) || (failed?.duration ?? 0) > LONG ? [test] : [],
    };
  }
  return { failed: "an error outside of all tests", late: [] };
}
