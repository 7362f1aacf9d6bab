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
  try {
    if (args.length === 0) {
      program.outputHelp({ error: true });
      return EXIT.usage;
    }
    await program.parseAsync([...args], { from: "user" });
    return io.interrupted.aborted ? EXIT.interrupted : running.exitCode;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    if (exitCodeOf(error) === EXIT.interrupted) {
      io.stderr.write("sluice: interrupted; a request that was under way may have taken effect\n");
      return EXIT.interrupted;
    }
    const isUsage = error instanceof CommanderError || error instanceof UsageError;
    const message = isUsage ? usageMessage(messageOf(error)) : messageOf(error);
    const known = program.commands.some((command) => command.name() === args[0]);
    const help = isUsage ? `\nSee \`sluice ${known ? `${args[0]} ` : ""}--help\`.` : "";
    io.stderr.write(`${printableLines(`sluice: ${message}${help}`)}\n`);
    return isUsage ? EXIT.usage : exitCodeOf(error);
  }
}
