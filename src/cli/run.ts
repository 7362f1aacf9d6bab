import { CommanderError } from "commander";
import { messageOf } from "../errors.ts";
import { EXIT, exitCodeOf, UsageError } from "./exit.ts";
import type { Io } from "./io.ts";
import { printableLines } from "./output/printable.ts";
import { createProgram } from "./program.ts";
import type { Running } from "./session.ts";
import { usageMessage } from "./usage-message.ts";

/**
 * Runs a command line.
 * @param args without the program itself
 * @returns the exit code. A command that serves returns when its server is listening
 */
export async function run(args: readonly string[], io: Io): Promise<number> {
  const running: Running = { io, exitCode: 0 };
  const program = createProgram(running);
  const isKnown = (name = "") =>
    program.commands.some((command) => [command.name(), ...command.aliases()].includes(name));
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    const [name = "", of] = args;
    if (name === "help" && of !== undefined && !isKnown(of)) throw new UsageError(`unknown command '${of}'`);
    // With an unknown command and --help, commander shows the general help, and the exit code is 0.
    const isMeant = name.startsWith("-") || name === "help" || isKnown(name);
    await program.parseAsync(isMeant ? [...args] : [name], { from: "user" });
    return io.interrupted.aborted ? EXIT.interrupted : running.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (exitCodeOf(error) === EXIT.interrupted) {
      io.stderr.write("sluice: interrupted; a request that was under way may have taken effect\n");
      return EXIT.interrupted;
    }
    const isUsage = error instanceof CommanderError || error instanceof UsageError;
    const message = isUsage ? usageMessage(messageOf(error)) : messageOf(error);
    const help = isUsage ? `\nSee \`sluice ${isKnown(args[0]) ? `${args[0]} ` : ""}--help\`.` : "";
    io.stderr.write(`${printableLines(`sluice: ${message}${help}`)}\n`);
    return isUsage ? EXIT.usage : exitCodeOf(error);
  }
}
