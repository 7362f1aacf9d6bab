import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import util from "node:util";
import { Command, Option } from "commander";
import { messageOf, SluiceError } from "../errors.ts";
import { type Api } from "./connection/api.ts";
import { connect, type ConnectOptions } from "./connection/connect.ts";
import { EXIT, UsageError } from "./exit.ts";
import type { Io } from "./io.ts";
import { shellQuoted } from "../shell-quoted.ts";
import { Output } from "./output/output.ts";

/** What a command of the operator works with. */
export interface Session {
  readonly api: Api;
  readonly out: Output;
  readonly io: Io;
  /** The options that said where the queues are, to be repeated in a command that a message proposes. */
  readonly where: string;
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
  readonly env?: string;
}

/** Adds what every command of the operator takes: where the queues are, and the form of the output. */
function withSharedOptions(command: Command): Command {
  return (
    command
      .optionsGroup("Where and how:")
      .addOption(new Option("--url <url>", "the deployment (default: SLUICE_URL)"))
      .addOption(new Option("--database", "the database, even if SLUICE_URL is set"))
      // Not `--env-file`, which Node takes for its own, wherever it is.
      .addOption(new Option("--env <file>", "a file with the variables, such as .env or .dev.vars"))
      .addOption(new Option("--json", "JSON, a line for each row (default: if the output is not a terminal)"))
      .addHelpOption(new Option("-h, --help", "show this help").helpGroup("Where and how:"))
  );
}

/**
 * Makes a command of the operator: it connects, runs the action, and closes the connection.
 * @param action gets the session, then the arguments of the command, then its options
 */
export function operation(
  running: Running,
  command: Command,
  action: (session: Session, options: never, ...args: never[]) => Promise<void>,
): Command {
  return withSharedOptions(command).action(async (...given: unknown[]) => {
    const options = command.opts<SharedOptions>();
    const args = given.slice(0, command.registeredArguments.length) as never[];
    const env = environment(running.io, options.env);
    // Not a copy by spread: `interrupted` is a getter, which installs a signal handler.
    const io: Io = Object.create(running.io, { env: { value: env } });
    const api = await connect(env, options, io.interrupted);
    const fail = () => void (running.exitCode = EXIT.failed);
    try {
      const where = whereOf(options);
      await action({ api, out: new Output(io, options), io, where, fail }, options as never, ...args);
    } catch (error) {
      throw withFlag(command, error);
    } finally {
      await api.close();
    }
  });
}

/** The error about an option, with its flag in place of the name that the queue has for it. */
function withFlag({ options }: Command, error: unknown): unknown {
  if (!(error instanceof SluiceError) || error.path === undefined) return error;
  const { path, code, message } = error;
  const flag = options.find((option) => option.attributeName() === path)?.long;
  return flag && message.startsWith(`${path} `)
    ? new SluiceError(code, flag + message.slice(path.length), path)
    : error;
}

function whereOf({ url, database, env }: SharedOptions): string {
  const given = [
    url && ` --url ${shellQuoted(url)}`,
    database && " --database",
    env && ` --env ${shellQuoted(env)}`,
  ];
  return given.filter(Boolean).join("");
}

/** The text of a file in UTF-8, or in UTF-16 as PowerShell writes it, without a byte order mark. */
function textOfFile(bytes: Uint8Array): string {
  const [first, second] = bytes;
  // Names of variables are ASCII, so one byte of their first letter is 0.
  if (second === 0 || (first === 0xff && second === 0xfe)) return new TextDecoder("utf-16le").decode(bytes);
  if (first === 0 || (first === 0xfe && second === 0xff)) return new TextDecoder("utf-16be").decode(bytes);
  return new TextDecoder().decode(bytes);
}

/** The environment, with the variables of a file that it does not have. An empty one counts as missing. */
function environment({ env }: Io, file: string | undefined): Io["env"] {
  if (file === undefined) return env;
  try {
    // Node before 20.12 has no parseEnv: only this option fails there.
    const set = Object.entries(env).filter(([, value]) => value !== "");
    return { ...util.parseEnv(textOfFile(readFileSync(file))), ...Object.fromEntries(set) };
  } catch (error) {
    if ((error as { code?: unknown }).code !== "ENOENT")
      throw new UsageError(`--env ${file} cannot be read: ${messageOf(error)}`);
    throw new UsageError(
      `--env ${file}: there is no file ${resolve(file)}. Give the path of the deployment's file, such as .env.local or .dev.vars; without --env, the variables of the shell hold`,
    );
  }
}
