import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { freePort } from "../../src/local/stack/port.ts";
import { essentials } from "../support/environment.ts";
import { installPackage, link, optionalPackages, root } from "./installed.ts";

/** No environment from outside, and no telemetry. */
const OFFLINE = { CI: "true", npm_config_offline: "true", npm_config_update_notifier: "false" };

export interface FolderOptions {
  /** Files to copy into it, from the root of the repository. */
  readonly example: string;
  /** Where the platform's tools are installed, from the root of the repository. */
  readonly tools: string;
  /** Installed packages, and names of commands. */
  readonly packages?: readonly string[];
  readonly commands?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** The folder of a newcomer, who has installed the package and the platform's tools, and types commands. */
export class Folder {
  readonly path: string;
  readonly #env: NodeJS.ProcessEnv;
  readonly #running: (() => Promise<void>)[] = [];

  private constructor(path: string, env: FolderOptions["env"]) {
    this.path = path;
    const bin = [
      join(path, "bin"),
      join(path, "node_modules/.bin"),
      dirname(process.execPath),
      essentials["PATH"],
    ];
    // A home of its own: no settings, no accounts.
    this.#env = { ...essentials, ...OFFLINE, ...env, HOME: join(path, "home"), PATH: bin.join(":") };
  }

  static async open({ example, tools, packages = [], commands = [], env }: FolderOptions): Promise<Folder> {
    const folder = new Folder(await mkdtemp(join(tmpdir(), "sluice-newcomer-")), env);
    const modules = join(folder.path, "node_modules");
    await cp(join(root, example), folder.path, { recursive: true });
    for (const name of ["home", "bin", "node_modules/.bin"]) {
      await mkdir(join(folder.path, name), { recursive: true });
    }
    for (const name of packages) await link(name, modules, join(root, tools));
    for (const name of commands) {
      const found = [tools, "."].map((from) => join(root, from, "node_modules/.bin", name)).find(existsSync);
      await symlink(found ?? name, join(modules, ".bin", name));
    }
    await symlink(join(root, "test/documents/curl.mjs"), join(folder.path, "bin/curl"));
    await installPackage(modules, optionalPackages);
    return folder;
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.path, name), text);
  }

  /** The environment file that both tools read. */
  writeEnv(env: Readonly<Record<string, string>>): Promise<void> {
    return this.write(
      ".env",
      Object.entries(env)
        .map(([name, value]) => `${name}='${value}'\n`)
        .join(""),
    );
  }

  /** Runs a command to its end. Returns what it prints. */
  async run(command: string): Promise<string> {
    const options = { cwd: this.path, env: this.#env, maxBuffer: 10_000_000 };
    const { stdout } = await promisify(execFile)("sh", ["-c", command], options);
    return stdout;
  }

  /** Starts a command that runs until the folder is closed, and waits until the address answers. */
  async start(command: string, url: string): Promise<void> {
    const options = { cwd: this.path, env: this.#env, detached: true } as const;
    const child = spawn("sh", ["-c", `exec env ${command}`], {
      ...options,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let log = "";
    for (const output of [child.stdout, child.stderr]) {
      output.on("data", (chunk: Buffer) => (log += chunk.toString()));
    }
    const closed = once(child, "close");
    const group = String(child.pid);
    // A shell ends it and removes the folder even if this process is killed, because the shell's input then
    // closes.
    const script = `trap "" INT TERM HUP; read -r _; kill -9 -"$1" 2>/dev/null; rm -rf "$2"`;
    const guard = spawn("sh", ["-c", script, "guard", group, this.path], {
      stdio: ["pipe", "ignore", "ignore"],
    });
    this.#running.push(async () => {
      guard.stdin.end();
      await closed;
    });
    while (!(await answers(url))) {
      if (child.exitCode !== null) throw new Error(`${command} has ended:\n${log}`);
      await sleep(100);
    }
  }

  async close(): Promise<void> {
    await Promise.all(this.#running.map((stop) => stop()));
    await rm(this.path, { recursive: true, force: true });
  }
}

async function answers(url: string): Promise<boolean> {
  const response = await fetch(url).catch(() => undefined);
  await response?.body?.cancel();
  return response !== undefined;
}

/** Returns that many different ports that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) ports.add(await freePort());
  return [...ports];
}
