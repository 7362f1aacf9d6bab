import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { type Ending, startChild } from "../../../src/local/stack/child.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import { essentials } from "../../support/environment.ts";
import { installPackage, optionalPackages, root, version } from "../installed.ts";

/** The programs themselves, because npm's wrappers of some of them pass no signal on. */
export const commands = {
  node: process.execPath,
  deno: join(root, "test/platforms/deno/node_modules/@deno/linux-x64-glibc/deno"),
  bun: join(root, "test/platforms/bun/node_modules/@oven/bun-linux-x64/bin/bun"),
  curl: join(root, "test/documents/curl.mjs"),
};

export type Runtime = "node" | "deno" | "bun";

/** A server that a command has started. */
export interface ServerProcess {
  readonly url: string;
  /** Everything that it has printed. */
  readonly printed: () => string;
  readonly fetch: (request: Request) => Promise<Response>;
  /** Sends it a signal. */
  readonly kill: (signal: NodeJS.Signals) => void;
  readonly ended: Promise<Ending>;
}

/** A folder in which the package is installed as it is published, and from which servers are started. */
export class Project {
  readonly path: string;
  readonly #stops: (() => Promise<unknown>)[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  /**
   * @param folder copied into it, from the root of the repository
   * @param packages installed beside the package. @default its optional packages
   */
  static async open(folder?: string, packages = optionalPackages): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), "sluice-project-")));
    try {
      await project.#furnish(folder, packages);
    } catch (error) {
      await project.close();
      throw error;
    }
    return project;
  }

  async #furnish(folder: string | undefined, packages: readonly string[]): Promise<void> {
    if (folder) await cp(join(root, folder), this.path, { recursive: true });
    const installed = join(this.path, "node_modules");
    await mkdir(join(installed, ".bin"), { recursive: true });
    for (const [name, target] of Object.entries(commands))
      await symlink(target, join(installed, ".bin", name));
    await installPackage(installed, packages);
    const dependencies = {
      "sluice-queue": `^${version}`,
      ...Object.fromEntries(packages.map((name) => [name, "*"])),
    };
    await this.write("package.json", JSON.stringify({ private: true, type: "module", dependencies }));
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.path, name)), { recursive: true });
    await writeFile(join(this.path, name), text);
  }

  /** Copies a file of the repository into it, under its own name. */
  async copy(file: string): Promise<void> {
    await cp(join(root, file), join(this.path, file.split("/").at(-1) ?? file));
  }

  /** Runs a typed command to its end. Returns what it prints. */
  async run(command: string): Promise<string> {
    const { stdout } = await promisify(execFile)("sh", ["-c", command], { cwd: this.path, env: this.#own });
    return stdout;
  }

  /** Starts a typed command, and waits until its server answers. */
  async start(command: string, env: Readonly<Record<string, string>> = {}): Promise<ServerProcess> {
    const port = env["PORT"] ?? String(await freePort());
    const child = startChild("sh", ["-c", `exec ${command}`], {
      cwd: this.path,
      env: { ...this.#own, ...env, PORT: port },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#stops.push(() => child.stop());
    let printed = "";
    for (const output of [child.process.stdout, child.process.stderr]) {
      output?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    }
    const url = `http://127.0.0.1:${port}`;
    let ending: Ending | undefined;
    void child.ended.then((ended) => (ending = ended));
    while (!(await fetch(`${url}/health`).catch(() => undefined))) {
      if (ending) throw new Error(`${command} ${ending.description}\n${printed}`);
      await sleep(25);
    }
    return {
      url,
      printed: () => printed,
      fetch({ url: asked, method, headers, body }) {
        const { pathname, search } = new URL(asked);
        return fetch(url + pathname + search, { method, headers, body, duplex: "half" } as RequestInit);
      },
      kill: (signal) => child.process.kill(signal),
      ended: child.ended,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
    await rm(this.path, { recursive: true, force: true });
  }

  /** Only the part of this process's environment that a command needs. */
  get #own(): Record<string, string> {
    const path = [join(this.path, "node_modules/.bin"), essentials["PATH"]].join(":");
    return {
      ...essentials,
      PATH: path,
      HOME: this.path,
      DENO_DIR: join(this.path, ".deno"),
      DENO_NO_UPDATE_CHECK: "1",
      NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
    };
  }
}
