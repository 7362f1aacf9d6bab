import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { build } from "tsdown";
import { type Ending, startChild } from "../../../src/local/stack/child.ts";
import { freePort } from "../../../src/local/stack/port.ts";
import packaging from "../../../tsdown.config.ts";
import { essentials } from "../../support/environment.ts";

export const root = fileURLToPath(new URL("../../../", import.meta.url));
const modules = join(root, "node_modules");

/** The programs themselves, because npm's wrappers of some of them pass no signal on. */
export const commands = {
  node: process.execPath,
  deno: join(modules, "@deno/linux-x64-glibc/deno"),
  bun: join(modules, "@oven/bun-linux-x64/bin/bun"),
  curl: join(root, "test/documents/curl.mjs"),
};

const own = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: object;
};
const optional = Object.keys(own.peerDependencies);

export interface ProjectOptions {
  /** Whether the package has its types, which takes longer. @default false */
  readonly declarations?: boolean;
  /** The packages installed beside it. @default its optional packages */
  readonly packages?: readonly string[];
}

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

  /** @param folder copied into it, from the root of the repository */
  static async open(folder?: string, options: ProjectOptions = {}): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), "sluice-project-")));
    try {
      await project.#furnish(folder, options);
    } catch (error) {
      await project.close();
      throw error;
    }
    return project;
  }

  async #furnish(folder: string | undefined, options: ProjectOptions): Promise<void> {
    const { declarations = false, packages = optional } = options;
    if (folder) await cp(join(root, folder), this.path, { recursive: true });
    const installed = join(this.path, "node_modules");
    await mkdir(join(installed, ".bin"), { recursive: true });
    for (const [name, target] of Object.entries(commands))
      await symlink(target, join(installed, ".bin", name));
    const version = await install(join(installed, "sluice-queue"), declarations);
    await symlink("../sluice-queue/dist/cli.js", join(installed, ".bin/sluice"));
    for (const name of packages) await link(name, installed);
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

/**
 * Builds the package as for npm, by default without declarations; its dependencies are linked.
 * @returns its version
 */
async function install(path: string, declarations: boolean): Promise<string> {
  const { version, dependencies, peerDependencies, peerDependenciesMeta } = own;
  const entry = {
    index: "src/index.ts",
    node: "serverless/node.ts",
    deno: "serverless/deno.ts",
    bun: "serverless/bun.ts",
    cli: "src/cli/main.ts",
  };
  await build({
    ...packaging,
    config: false,
    cwd: root,
    entry,
    outDir: join(path, "dist"),
    dts: declarations,
    logLevel: "error",
  });
  const exports = Object.fromEntries(
    Object.keys(entry).map((one) => [one === "index" ? "." : `./${one}`, `./dist/${one}.js`]),
  );
  const manifest = {
    name: "sluice-queue",
    version,
    type: "module",
    exports,
    dependencies,
    peerDependencies,
    peerDependenciesMeta,
  };
  await writeFile(join(path, "package.json"), JSON.stringify(manifest));
  for (const name of Object.keys(dependencies)) await link(name, join(path, "node_modules"));
  return version;
}

/** Links a package that is installed here into another folder of packages. */
async function link(name: string, folder: string): Promise<void> {
  const place = join(folder, name);
  await mkdir(dirname(place), { recursive: true });
  await symlink(join(modules, name), place);
}
