import process from "node:process";
import { Command, Option } from "commander";
import { messageOf } from "../errors.ts";
import { type Api } from "./connection/api.ts";
import { connect, type ConnectOptions } from "./connection/connect.ts";
import { EXIT, UsageError } from "./exit.ts";
import type { Io } from "./io.ts";
import { Output } from "./output/output.ts";

/** What a command of the operator works with. */
export interface Session {
  readonly api: Api;
  readonly out: Output;
  readonly io: Io;
  /** Makes the exit code 1: part of what was asked was refused. */
  readonly fail: () => void;
}

/** The program while it runs. */
export interface Running {
  readonly io: Io;
  exitCode: number;
}

interface SharedOptions extends ConnectOptions {
  readonly json?: boolean;
  readonly envFile?: string;
}

/** Adds what every command of the operator takes: where the queues are, and the form of the output. */
function withSharedOptions(command: Command): Command {
  return command
    .optionsGroup("Where and how:")
    .addOption(new Option("--url <url>", "the deployment (default: SLUICE_URL)"))
    .addOption(new Option("--database", "the database, even if SLUICE_URL is set"))
    .addOption(new Option("--env-file <file>", "a file with the variables, such as .env or .dev.vars"))
    .addOption(new Option("--json", "JSON, a line for each row (default: if the output is not a terminal)"));
}

/**
 * Makes a command of the operator: it connects, runs the action, and closes the connection.
 * @param action gets the session, then the arguments of the command, then its options
 */
export function operation<Args extends unknown[], Options extends object>(
  running: Running,
  command: Command,
  action: (session: Session, options: Options, ...args: Args) => Promise<void>,
): Command {
  return withSharedOptions(command).action(async (...given: unknown[]) => {
    const options = command.opts<Options & SharedOptions>();
    const args = given.slice(0, command.registeredArguments.length) as Args;
    const { io } = running;
    const api = await connect(environment(io, options.envFile), options, io.interrupted);
    const fail = () => void (running.exitCode = EXIT.failed);
    try {
      await action({ api, out: new Output(io, options), io, fail }, options, ...args);
    } finally {
      await api.close();
    }
  });
}

/** The environment, with the variables of a file that it does not have. */
function environment({ env }: Io, file: string | undefined): Io["env"] {
  if (file === undefined) return env;
  const before = { ...process.env };
  try {
    // Node's own parser, which reads into the environment of the process.
    process.loadEnvFile(file);
    return { ...process.env, ...env };
  } catch (error) {
    throw new UsageError(`--env-file ${file}: ${messageOf(error)}`);
  } finally {
    for (const name of Object.keys(process.env)) if (!(name in before)) delete process.env[name];
  }
}
