import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Ending, startChild } from "../../src/local/stack/child.ts";
import { freePort } from "../../src/local/stack/port.ts";
import { essentials } from "../support/environment.ts";

export const root = fileURLToPath(new URL("../../", import.meta.url));

/** The programs themselves, because npm's wrappers of some of them pass no signal on. */
export const programs = {
  node: process.execPath,
  deno: join(root, "test/platforms/deno/node_modules/@deno/linux-x64-glibc/deno"),
  bun: join(root, "test/platforms/bun/node_modules/@oven/bun-linux-x64/bin/bun"),
  curl: join(root, "test/documents/curl.mjs"),
};

const own = JSON.parse(await readFile(join(root, "package.json"), "utf8")) as {
  readonly version: string;
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
};

/** The optional packages of the root. Next.js is not one of them. */
const peers = Object.keys(own.peerDependencies).filter((name) =>
  existsSync(join(root, "node_modules", name)),
);

/** The folder of a platform's tools, from the root of the repository, and which of its packages and commands. */
interface Tools {
  readonly from: string;
  readonly packages?: readonly string[];
  readonly commands: readonly string[];
}

export interface ProjectOptions {
  /** A folder to copy into it, from the root of the repository. */
  readonly folder?: string;
  /** The packages of the root that are installed beside the package. @default its optional packages */
  readonly packages?: readonly string[];
  /** The platform's tools; of several folders, if it needs those of another platform, too. */
  readonly tools?: Tools | readonly Tools[];
  readonly env?: Readonly<Record<string, string>>;
}

export type ServerProcess = Awaited<ReturnType<Project["start"]>>;

/**
 * The folder of a newcomer, who has installed the package, as it is published, and the platform's tools, and types
 * commands. The package is what `npm run build` has built.
 */
export class Project {
  readonly path: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #stops: (() => Promise<unknown>)[] = [];

  private constructor(path: string, env: ProjectOptions["env"]) {
    this.path = path;
    // Of this process's environment only what a command needs: no settings, no accounts, no telemetry.
    this.#env = {
      ...essentials,
      CI: "true",
      DENO_DIR: join(path, ".deno"),
      DENO_NO_UPDATE_CHECK: "1",
      NPM_CONFIG_REGISTRY: "http://127.0.0.1:9",
      npm_config_offline: "true",
      npm_config_update_notifier: "false",
      ...env,
      HOME: join(path, ".home"),
      PATH: [join(path, "node_modules/.bin"), dirname(process.execPath), essentials["PATH"]].join(":"),
    };
  }

  static async open(options: ProjectOptions = {}): Promise<Project> {
    const project = new Project(await mkdtemp(join(tmpdir(), "sluice-project-")), options.env);
    try {
      await project.#furnish(options);
    } catch (error) {
      await project.close();
      throw error;
    }
    return project;
  }

  async #furnish({ folder, packages = peers, tools }: ProjectOptions) {
    if (folder) await cp(join(root, folder), this.path, { recursive: true });
    const modules = join(this.path, "node_modules");
    const sluice = join(modules, "sluice-queue");
    for (const name of [".home", "node_modules/.bin"])
      await mkdir(join(this.path, name), { recursive: true });
    await cp(join(root, "dist"), join(sluice, "dist"), { recursive: true });
    await cp(join(root, "package.json"), join(sluice, "package.json"));
    await link(Object.keys(own.dependencies), root, join(sluice, "node_modules"));
    await link(packages, root, modules);
    await symlink("../sluice-queue/dist/cli.js", join(modules, ".bin/sluice"));
    for (const [name, program] of Object.entries(programs)) {
      await symlink(program, join(modules, ".bin", name));
    }
    for (const { from, packages: names = [], commands } of [tools ?? []].flat()) {
      await link(names, join(root, from), modules);
      for (const name of commands) {
        await rm(join(modules, ".bin", name), { force: true });
        await symlink(join(root, from, "node_modules/.bin", name), join(modules, ".bin", name));
      }
    }
    if (existsSync(join(this.path, "package.json"))) return;
    const installed = Object.fromEntries(packages.map((name) => [name, "*"]));
    const dependencies = { "sluice-queue": `^${own.version}`, ...installed };
    await this.write("package.json", JSON.stringify({ private: true, type: "module", dependencies }));
  }

  async write(name: string, text: string): Promise<void> {
    await mkdir(dirname(join(this.path, name)), { recursive: true });
    await writeFile(join(this.path, name), text);
  }

  read(name: string): Promise<string> {
    return readFile(join(this.path, name), "utf8");
  }

  /** Replaces texts in a file. Each must be there. */
  async edit(name: string, ...changes: (readonly [from: string, to: string])[]): Promise<void> {
    let text = await this.read(name);
    for (const [from, to] of changes) {
      if (!text.includes(from)) throw new Error(`${name} has no ${from}`);
      text = text.replace(from, () => to);
    }
    await this.write(name, text);
  }

  /** Copies a file of the repository into it, under its own name. */
  async copy(file: string): Promise<void> {
    await cp(join(root, file), join(this.path, file.split("/").at(-1) ?? file));
  }

  /** Runs a typed command to its end. Returns what it prints. */
  async run(command: string): Promise<string> {
    const options = { cwd: this.path, env: this.#env, maxBuffer: 10_000_000 };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], options);
    return stdout;
  }

  /** Starts a typed command, and waits until its server answers: at its `PORT`, or at the address. */
  async start(command: string, env: Readonly<Record<string, string>> = {}, address?: string) {
    const port = env["PORT"] ?? String(await freePort());
    const url = address ?? `http://127.0.0.1:${port}`;
    const child = startChild("sh", ["-c", `exec env ${command}`], {
      cwd: this.path,
      env: { ...this.#env, PORT: port, ...env },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#stops.push(() => child.stop());
    let printed = "";
    for (const output of [child.process.stdout, child.process.stderr]) {
      output?.on("data", (chunk: Buffer) => (printed += chunk.toString()));
    }
    let ending: Ending | undefined;
    void child.ended.then((ended) => (ending = ended));
    while (!(await answers(`${url}/health`))) {
      if (ending) throw new Error(`${command} ${ending.description}\n${printed}`);
      await sleep(25);
    }
    return {
      url,
      printed: () => printed,
      fetch({ url: asked, method, headers, body }: Request) {
        const { pathname, search } = new URL(asked);
        return fetch(url + pathname + search, { method, headers, body, duplex: "half" } as RequestInit);
      },
      kill: (signal: NodeJS.Signals) => child.process.kill(signal),
      ended: child.ended,
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.#stops.map((stop) => stop()));
    await rm(this.path, { recursive: true, force: true });
  }
}

/** Ends a server by SIGTERM, as every container platform does. */
export async function end(server: ServerProcess): Promise<void> {
  server.kill("SIGTERM");
  const { status, description } = await server.ended;
  if (status !== 0) throw new Error(`the server ${description}\n${server.printed()}`);
}

async function link(names: readonly string[], from: string, modules: string): Promise<void> {
  for (const name of names) {
    await mkdir(dirname(join(modules, name)), { recursive: true });
    await symlink(join(from, "node_modules", name), join(modules, name));
  }
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response !== undefined;
}
