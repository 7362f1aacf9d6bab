#!/usr/bin/env node
import { messageOf } from "../errors.ts";
import manifest from "../../package.json" with { type: "json" };
import { dev } from "./dev.ts";
import { gateway } from "./gateway.ts";
import { serve } from "./serve.ts";
import { type Subcommand, UsageError } from "./subcommand.ts";
import { token } from "./token.ts";

const subcommands: Readonly<Record<string, Subcommand>> = { dev, gateway, serve, token };

const usage = () => `Usage: sluice <command> [options]

Commands:
${Object.entries(subcommands)
  .map(([name, { summary }]) => `  ${name.padEnd(10)} ${summary}`)
  .join("\n")}

Options:
  --help     show this help, or with a command the options of the command
  --version  show the version
`;

async function main([name, ...args]: readonly string[]): Promise<void> {
  if (name === undefined || name === "help" || name === "--help" || name === "-h") {
    (name === undefined ? process.stderr : process.stdout).write(usage());
    if (name === undefined) process.exitCode = 2;
    return;
  }
  if (name === "--version" || name === "-v") {
    process.stdout.write(`${manifest.version}\n`);
    return;
  }
  const subcommand = Object.hasOwn(subcommands, name) ? subcommands[name] : undefined;
  if (!subcommand) {
    throw new UsageError(
      `unknown command ${name}; expected one of ${Object.keys(subcommands).join(", ")}\nSee \`sluice help\`.`,
    );
  }
  if (args.includes("--help") || args.includes("-h")) {
    process.stdout.write(subcommand.usage);
    return;
  }
  try {
    await subcommand.run(args, process.env);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    throw new UsageError(`${error.message}\nSee \`sluice ${name} --help\`.`);
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  process.stderr.write(`sluice: ${messageOf(error)}\n`);
  process.exitCode = error instanceof UsageError ? 2 : 1;
}
