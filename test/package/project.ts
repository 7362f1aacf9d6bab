import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
export const root = resolve(import.meta.dirname, "../..");

/**
 * The project's own Node is newer than the oldest that the package supports, so the machine's is preferred.
 */
export const node =
  (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"))
    .find((path) => existsSync(path)) ?? process.execPath;

/** A project with the packed tarball installed and nothing else. */
export class Project {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async open(): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), "sluice-package-")));
    const pack = ["pack", "--json", "--ignore-scripts", "--pack-destination", project.path];
    const packed = await run("npm", pack, { cwd: root });
    const [{ filename }] = JSON.parse(packed.stdout) as [{ filename: string }];
    await writeFile(join(project.path, "package.json"), JSON.stringify({ private: true, type: "module" }));
    await project.install(join(project.path, filename));
    return project;
  }

  async install(...packages: string[]): Promise<void> {
    const flags = ["--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts"];
    await run("npm", ["install", ...flags, ...packages], { cwd: this.path });
  }

  /** The names of all packages that are installed. */
  async installed(): Promise<string[]> {
    const text = await readFile(join(this.path, "node_modules/.package-lock.json"), "utf8");
    const { packages } = JSON.parse(text) as { packages: Record<string, unknown> };
    return Object.keys(packages).map((place) => place.replace("node_modules/", ""));
  }

  /** Runs a module. Returns what it prints, read as JSON. */
  async run(source: string, ...args: string[]): Promise<unknown> {
    await writeFile(join(this.path, "script.js"), source);
    const { stdout } = await run(node, ["script.js", ...args], { cwd: this.path });
    return JSON.parse(stdout);
  }

  /** Runs the command to its end, without the environment variables that it reads. */
  async sluice(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
    const path = join(this.path, "node_modules/.bin/sluice");
    const ended = await run(node, [path, ...args], {
      cwd: this.path,
      env: { PATH: process.env["PATH"], ...env },
    }).catch((error: { stdout: string; stderr: string; code: number }) => error);
    return { status: "code" in ended ? ended.code : 0, stdout: ended.stdout, stderr: ended.stderr };
  }

  close(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}
