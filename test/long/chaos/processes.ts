import { execFile } from "node:child_process";
import { openSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Child, startChild } from "../../../src/local/stack/child.ts";
import type { Ledger } from "./ledger.ts";
import type { RunProcessEnvironment } from "./run-process.ts";

/** The programs of the processes. Named here by path, so that knip sees that they are used. */
const programs = {
  gateway: new URL("gateway.ts", import.meta.url),
  server: new URL("server.ts", import.meta.url),
  producer: new URL("producer.ts", import.meta.url),
  consumer: new URL("consumer.ts", import.meta.url),
  sweeper: new URL("sweeper.ts", import.meta.url),
  deepSweeper: new URL("deep-sweeper.ts", import.meta.url),
  deployment: new URL("deployment.ts", import.meta.url),
  receiver: new URL("receiver.ts", import.meta.url),
};

/** How long a process that is asked to end may take, ms: longer than its last request, also on a busy machine. */
const END = 120_000;

const MODULES = [
  createRequire(import.meta.url).resolve("@redis/client"),
  ...["run-process.ts", "noted-source.ts", "beating-worker.ts", "work.ts", "../../../src/index.ts"].map(
    (file) => new URL(file, import.meta.url).href,
  ),
];

/** A role in the run. One process after another has it. */
export interface Role {
  /** Such as `drain-1`. */
  readonly name: string;
  readonly program: keyof typeof programs;
  readonly style?: string;
  readonly through?: "gateway" | "server";
  /** The HTTP interface that it uses, or is. @default that of the server */
  readonly url?: string;
}

interface Player {
  readonly role: Role;
  readonly name: string;
  readonly child: Child;
}

export interface ProcessesOptions {
  readonly folder: string;
  readonly ledger: Ledger;
  readonly roll: (sides: number) => number;
  readonly environment: Pick<
    RunProcessEnvironment,
    "CHAOS_REDIS" | "CHAOS_GATEWAY" | "CHAOS_SERVER" | "CHAOS_TOKEN" | "CHAOS_RECEIVER"
  >;
}

/** The processes of a run. A process that is killed or crashes is replaced. */
export class Processes {
  /** How many partitions deployments declare that start from now on. */
  partitions = 1;
  readonly #options: ProcessesOptions;
  readonly #players = new Map<string, Player>();
  readonly #incarnations = new Map<string, number>();
  readonly #over = new Set<Role["program"]>();
  /** Those that {@link restart} has asked to end. */
  readonly #restarted = new Set<string>();

  constructor(options: ProcessesOptions) {
    this.#options = options;
  }

  get #compiled(): string {
    return join(this.#options.folder, "compiled");
  }

  /** The roles of some program. */
  of(program: Role["program"]): Role[] {
    return [...this.#players.values()].map(({ role }) => role).filter((role) => role.program === program);
  }

  /**
   * Compiles what the processes load. Each process writes what it has compiled when it ends. If many end at
   * once, that takes longer than they have.
   */
  async compile(): Promise<void> {
    const code = MODULES.map((module) => `await import(${JSON.stringify(module)});`).join("\n");
    const env = { ...process.env, NODE_COMPILE_CACHE: this.#compiled };
    await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", code], { env });
  }

  start(role: Role): void {
    const { folder, ledger, roll, environment } = this.#options;
    const { program, style = "", through = "gateway", url = environment.CHAOS_SERVER } = role;
    const incarnation = (this.#incarnations.get(role.name) ?? 0) + 1;
    this.#incarnations.set(role.name, incarnation);
    const name = `${role.name}.${incarnation}`;
    const own: Partial<RunProcessEnvironment> = {
      CHAOS_NAME: name,
      CHAOS_FOLDER: folder,
      CHAOS_SEED: String(roll(2 ** 31)),
      CHAOS_STYLE: style,
      CHAOS_THROUGH: through,
      CHAOS_SERVER: url,
      CHAOS_PARTITIONS: String(this.partitions),
    };
    ledger.write({ what: "started", process: name, through });
    const output = openSync(join(folder, `${name}.out`), "a");
    const env = { ...process.env, ...environment, ...own, NODE_COMPILE_CACHE: this.#compiled };
    const child = startChild(process.execPath, [fileURLToPath(programs[program])], {
      env,
      stdio: ["ignore", output, output],
      // As leaders, they would have almost all CPU time, and the director and Redis little.
      leads: false,
    });
    this.#players.set(role.name, { role, name, child });
    void child.ended.then(async ({ description, status }) => {
      ledger.write({ what: status === null ? "killed" : "ended", process: name });
      const over = () => this.#over.has(program);
      // A process that was asked to end before it listened for that has done nothing.
      const neverBegan = child.process.signalCode === "SIGTERM";
      const isAsked = over() || this.#restarted.has(name);
      if (isAsked ? status !== 0 && !neverBegan : status !== null)
        ledger.write({ what: "broken", error: `${name} ${description}; see ${name}.out` });
      await sleep(100 + roll(500));
      if (!over()) this.start(role);
    });
  }

  async kill(role: Role): Promise<void> {
    const { name, child } = this.#player(role);
    this.#options.ledger.write({ what: "killed", process: name });
    child.process.kill("SIGKILL");
    await child.ended;
  }

  /** Asks a process to end, and waits, as a new deployment does. It is replaced. */
  async restart(role: Role): Promise<void> {
    const { name, child } = this.#player(role);
    this.#restarted.add(name);
    await child.stop(END);
  }

  /** Stops a process until something is over; it may be killed meanwhile. */
  async pause<T>(role: Role, over: () => Promise<T>): Promise<T> {
    const { name, child } = this.#player(role);
    this.#options.ledger.write({ what: "paused", process: name });
    child.process.kill("SIGSTOP");
    try {
      return await over();
    } finally {
      child.process.kill("SIGCONT");
      this.#options.ledger.write({ what: "resumed", process: name });
    }
  }

  signal(role: Role, signal: NodeJS.Signals): void {
    this.#player(role).child.process.kill(signal);
  }

  /** Waits until there is a process for each role again. */
  async settled(roles: readonly Role[] = [...this.#players.values()].map(({ role }) => role)): Promise<void> {
    const isLive = (role: Role) => {
      const { exitCode, signalCode } = this.#player(role).child.process;
      return exitCode === null && signalCode === null;
    };
    while (!roles.every(isLive)) await sleep(20);
  }

  /** Asks all of a program to end, and waits. They are not replaced. */
  async end(program: Role["program"]): Promise<void> {
    this.#over.add(program);
    await Promise.all(this.of(program).map((role) => this.#player(role).child.stop(END)));
  }

  /** The process that has a role now. */
  nameOf(role: Role): string {
    return this.#player(role).name;
  }

  #player({ name }: Role): Player {
    return this.#players.get(name) as Player;
  }
}
