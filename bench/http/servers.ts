// The servers that the bench drives: each a process of its own, whose CPU time can be read.

import { type ChildProcess, fork, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import type { Setting } from "./node-server.ts";

export interface Server {
  readonly port: number;
  /** CPU time that its process has used, in microseconds. */
  readonly cpu: () => Promise<number>;
  readonly stop: () => Promise<void>;
}

const here = (file: string) => fileURLToPath(new URL(file, import.meta.url));

/** One of `echo`, `bare` and `sluice` on Node. */
export async function onNode(subject: string, setting: Setting): Promise<Server> {
  const child = fork(here("node-server.ts"), [subject], { serialization: "advanced" });
  const reported = async (message: object) => {
    child.send(message);
    const [answer] = await once(child, "message");
    return answer as { readonly port: number; readonly cpu: number };
  };
  const { port } = await reported(setting);
  return { port, cpu: async () => (await reported({})).cpu, stop: () => ended(child) };
}

/** Whether the CPU time of a process that is not Node's can be read here. */
export const canMeasureWorkerd = existsSync("/proc/self/stat");

/** One of `echo`, `bare` and `sluice` in workerd, without anything in front of it. */
export async function inWorkerd(
  subject: string,
  bindings: Readonly<Record<string, string>>,
): Promise<Server> {
  const folder = await mkdtemp(join(tmpdir(), "sluice-workerd-"));
  await build({
    entryPoints: [here(`worker-${subject}.ts`)],
    outfile: join(folder, "worker.js"),
    bundle: true,
    format: "esm",
    target: "es2023",
    conditions: ["workerd", "worker"],
    logLevel: "error",
  });
  const configured = Object.entries(bindings).map(
    ([name, value]) => `(name = ${JSON.stringify(name)}, text = ${JSON.stringify(value)})`,
  );
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [
    (name = "main", worker = .worker),
    (name = "internet", network = (allow = ["public", "private"])),
  ],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "worker.js", esModule = embed "worker.js")],
  compatibilityDate = "2026-10-23",
  bindings = [${configured.join(", ")}],
);`;
  await writeFile(join(folder, "config.capnp"), config);
  const { default: program } = createRequire(new URL("../../tools/workerd/package.json", import.meta.url))(
    "workerd",
  ) as {
    readonly default: string;
  };
  const child = spawn(program, ["serve", "--control-fd=3", join(folder, "config.capnp")], {
    stdio: ["ignore", "inherit", "inherit", "pipe"],
  });
  const [line] = (await once(child.stdio[3] as NodeJS.ReadableStream, "data")) as [Buffer];
  const { port } = JSON.parse(line.toString()) as { readonly port: number };
  return {
    port,
    cpu: async () => cpuOf(child.pid ?? 0),
    async stop() {
      await ended(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** By the clock ticks of Linux, a hundredth of a second each. */
function cpuOf(pid: number): number {
  // The name in brackets before may hold spaces.
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10_000;
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = once(child, "close");
  child.kill("SIGKILL");
  await closed;
}
