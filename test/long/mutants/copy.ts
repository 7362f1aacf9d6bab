import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { everyScript, nearestTo, root } from "../../near/nearest.ts";
import { type Edit, mutated } from "./anchor.ts";

/** How long the nearest tests, and all others, may take before they count as hanging, ms. */
const NEAREST_WITHIN = 300_000;
const OTHERS_WITHIN = 1_800_000;

/** The most test files that count as nearest; the next ones run with all others. */
const MOST_NEAREST = 40;

/**
 * What `npm test` has and a mutant does not meet: pages, examples, platforms and whole stacks, which take
 * minutes and notice nothing first; and the test of the anchors, which no mutated source has.
 */
const LEFT_OUT = [
  "test/{documents,examples,local,runtime,platforms,compose,chaos,dashboard,package}/**",
  "test/contract/mutants.test.ts",
];

const EMBEDDED = "src/lua";

/** A run of tests. */
interface Run {
  /** Test files, in this order; all without it. */
  readonly files?: readonly string[];
  /** Only the tests with such a title. */
  readonly rows?: string;
  readonly without?: readonly string[];
  readonly isLong?: boolean;
}

/** The first failure of a run. */
export interface Failure {
  /** The test file; undefined if all of them hang. */
  readonly file: string | undefined;
  readonly what: string;
  readonly isTimeout: boolean;
}

/** A copy of the repository, with uncommitted changes, in which faults are made and tests run. */
export class Copy {
  readonly #folder: string;
  #running: ChildProcess | undefined;

  static async make(): Promise<Copy> {
    const folder = await mkdtemp(join(tmpdir(), "sluice-mutants-"));
    const listed = execFileSync("git", ["ls-files", "-co", "--exclude-standard", "-z"], { cwd: root });
    for (const file of listed.toString().split("\0").filter(Boolean)) {
      // Deleted files are listed too.
      if (!statSync(join(root, file), { throwIfNoEntry: false })?.isFile()) continue;
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      copyFileSync(join(root, file), join(folder, file));
    }
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
    return new Copy(folder);
  }

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Ends the running tests, and removes the copy. */
  remove(): void {
    this.#endTests();
    // What the killed tests have begun to write may still appear.
    rmSync(this.#folder, { recursive: true, force: true, maxRetries: 10 });
  }

  /**
   * Makes the edit, runs tests until one fails, and undoes it.
   * @param before the test file that noticed it the last time: it runs first
   * @param near whether the nearest tests are all that run
   * @returns what noticed the fault; undefined if nothing did
   */
  async try(edit: Edit, before: string | undefined, near: boolean): Promise<Failure | undefined> {
    const { rows, tests } = nearestTo(edit.source.file, edit.from);
    const nearest = tests.slice(0, MOST_NEAREST);
    const runs: Run[] = [
      ...(before === undefined ? [] : [{ files: [before] }]),
      ...(rows === undefined ? [] : [{ files: [everyScript], rows }]),
      ...(nearest.length > 0 ? [{ files: nearest }] : []),
      ...(near ? [] : [{ without: nearest, isLong: true }]),
    ];
    for (const run of runs) {
      const failure = await this.#failureOf(edit, run, before);
      if (failure) return failure;
    }
    return undefined;
  }

  /**
   * A failure counts if it happens again, so that no test that fails now and then counts as one that notices; a
   * timeout if it does not happen without the fault. Otherwise the others go on without the file.
   */
  async #failureOf(edit: Edit, run: Run, before: string | undefined): Promise<Failure | undefined> {
    const without = [...(run.without ?? [])];
    for (;;) {
      const failure = await this.#with(edit, () => this.#test({ ...run, without }));
      if (!failure || (failure.file === before && !failure.isTimeout)) return failure;
      const { file } = failure;
      const same = file === undefined ? { ...run, without } : { ...run, files: [file], without: [] };
      const isOfFault = failure.isTimeout
        ? !(await this.#test(same))
        : await this.#with(edit, () => this.#test(same));
      if (isOfFault) return failure;
      if (file === undefined) return undefined;
      without.push(file);
    }
  }

  async #with<T>(edit: Edit, run: () => Promise<T>): Promise<T> {
    const { file } = edit.source;
    const isLua = file.endsWith(".lua");
    const path = join(this.#folder, file);
    const text = readFileSync(path);
    const [embedded, kept] = [join(this.#folder, EMBEDDED), join(this.#folder, "embedded-before")];
    try {
      writeFileSync(path, mutated(edit));
      if (isLua) {
        cpSync(embedded, kept, { recursive: true });
        execFileSync(process.execPath, ["tools/embed-lua.ts"], { cwd: this.#folder });
      }
      return await run();
    } finally {
      writeFileSync(path, text);
      if (isLua) {
        rmSync(embedded, { recursive: true });
        renameSync(kept, embedded);
      }
    }
  }

  async #test({ files = [], rows, without = [], isLong = false }: Run): Promise<Failure | undefined> {
    const left = files.filter((file) => !without.includes(file));
    if (files.length > 0 && left.length === 0) return undefined;
    const report = join(this.#folder, "mutant-report.json");
    rmSync(report, { force: true });
    const options = [
      "--config",
      "test/long/mutants/vitest.config.ts",
      "--root",
      ".",
      "--bail",
      "1",
      "--passWithNoTests",
    ];
    // Few files run one by one, so that each has the machine to itself, and the likeliest comes first.
    const workers = ["--maxWorkers", isLong ? "2" : "1", ...(rows === undefined ? [] : ["-t", rows])];
    const reporting = ["--reporter", "json", "--outputFile", report, "--fsModuleCachePath", "module-cache"];
    const args = ["node_modules/vitest/vitest.mjs", "run", ...options, ...workers, ...reporting, ...left];
    const lists = { MUTANT_TESTS: left.join(","), MUTANT_TESTS_LEFT: [...LEFT_OUT, ...without].join("\n") };
    // A process group of its own, so that everything that the tests started can be ended with it.
    const child = spawn(process.execPath, args, {
      cwd: this.#folder,
      detached: true,
      stdio: "ignore",
      env: { ...process.env, ...lists },
    });
    this.#running = child;
    let hangs = false;
    const end = () => {
      hangs = true;
      this.#endTests();
    };
    const timer = setTimeout(end, isLong ? OTHERS_WITHIN : NEAREST_WITHIN);
    const [status] = (await once(child, "exit")) as [number | null];
    clearTimeout(timer);
    this.#endTests();
    if (hangs) return { file: left.length === 1 ? left[0] : undefined, what: "a hang", isTimeout: true };
    return status === 0 ? undefined : failureIn(report);
  }

  #endTests(): void {
    const { pid } = this.#running ?? {};
    this.#running = undefined;
    try {
      if (pid !== undefined) process.kill(-pid, "SIGKILL");
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
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

/**
 * The first test that failed.
 * @throws if Vitest ended without a report, which says nothing about the fault
 */
function failureIn(file: string): Failure {
  if (!existsSync(file)) throw new Error("Vitest ended without a report");
  const { testResults } = JSON.parse(readFileSync(file, "utf8")) as Report;
  // The first failure ends the other tests, which may then fail in the middle of their work.
  const [first] = testResults
    .filter(({ status }) => status === "failed")
    .toSorted((one, other) => one.endTime - other.endTime);
  if (!first) return { file: undefined, what: "an error outside of all tests", isTimeout: false };
  const failed = first.assertionResults.find(({ status }) => status === "failed");
  const reason = failed?.failureMessages[0] ?? first.message;
  const path = first.name.replace(/^.*\/test\//, "test/");
  const words = reason.split("\n")[0]?.slice(0, 120) || "no reason given";
  const isTimeout = /timed out|no useful answer/i.test(reason);
  return { file: path, what: `${path}: ${failed?.fullName ?? "the file as a whole"} (${words})`, isTimeout };
}
