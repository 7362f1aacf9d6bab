import { Command } from "commander";
import manifest from "../../package.json" with { type: "json" };
import { cancelCommand } from "./commands/cancel.ts";
import { deadCommand } from "./commands/dead.ts";
import { deleteCommand } from "./commands/delete.ts";
import { deployCommand } from "./commands/deploy.ts";
import { docsCommand } from "./commands/docs.ts";
import { doctorCommand } from "./commands/doctor.ts";
import { endpointsCommand } from "./commands/endpoints.ts";
import { enqueueCommand } from "./commands/enqueue.ts";
import { exportCommand } from "./commands/export.ts";
import { findCommand } from "./commands/find.ts";
import { flowCommand } from "./commands/flow.ts";
import { forgetCommand } from "./commands/forget.ts";
import { groupsCommand } from "./commands/groups.ts";
import { importCommand } from "./commands/import.ts";
import { lsCommand } from "./commands/ls.ts";
import { partitionsCommand } from "./commands/partitions.ts";
import { pauseCommand } from "./commands/pause.ts";
import { publishCommand } from "./commands/publish.ts";
import { pullCommand } from "./commands/pull.ts";
import { purgeCommand } from "./commands/purge.ts";
import { queuesCommand } from "./commands/queues.ts";
import { redriveCommand } from "./commands/redrive.ts";
import { replayCommand } from "./commands/replay.ts";
import { schedulesCommand } from "./commands/schedules.ts";
import { settingsCommand } from "./commands/settings.ts";
import { settleCommand } from "./commands/settle.ts";
import { showCommand } from "./commands/show.ts";
import { skipCommand } from "./commands/skip.ts";
import { statsCommand } from "./commands/stats.ts";
import { subscribeCommand, unsubscribeCommand } from "./commands/subscribe.ts";
import { sweepCommand } from "./commands/sweep.ts";
import { tailCommand } from "./commands/tail.ts";
import { topicsCommand } from "./commands/topics.ts";
import { workersCommand } from "./commands/workers.ts";
import { completionsCommand } from "./completions/completions.ts";
import { devCommand } from "./serving/dev.ts";
import { gatewayCommand } from "./serving/gateway.ts";
import { serveCommand } from "./serving/serve.ts";
import { tokenCommand } from "./serving/token.ts";
import type { Running } from "./session.ts";

const FOOTER = `
The queues are those of a deployment (SLUICE_URL and SLUICE_TOKEN), or of a
database (UPSTASH_REDIS_REST_URL and UPSTASH_REDIS_REST_TOKEN, or REDIS_URL;
SLUICE_PREFIX).
On a terminal the commands print tables with local times; in a pipe, JSON lines.
Exit codes: 0 done, 1 failed or partly refused, 2 wrong command line or
environment, 3 not reachable or not allowed, 130 Ctrl-C.
If something is wrong: sluice doctor, and sluice docs operating.
`;

/** A command in the list of commands: with its arguments, without the word that it has options. */
function termOf(command: Command): string {
  const args = command.registeredArguments.map((argument) => {
    const name = argument.name() + (argument.variadic ? "..." : "");
    return argument.required ? `<${name}>` : `[${name}]`;
  });
  return [command.name(), ...args].join(" ");
}

/** The command line of `sluice`. */
export function createProgram(running: Running): Command {
  const { io } = running;
  const program = new Command("sluice")
    .usage("<command> [options]")
    .version(manifest.version, "-v, --version", "show the version")
    .helpOption("-h, --help", "show this help, or with a command its options")
    .addHelpText("after", FOOTER)
    .configureHelp({ subcommandTerm: termOf })
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.stdout.write(text),
      writeErr: (text) => io.stderr.write(text),
      // The caller prints the error.
      outputError: () => {},
    });
  const add = (group: string, commands: readonly Command[]) => {
    program.commandsGroup(group);
    for (const command of commands) {
      // What commander gives to commands that it makes itself.
      program.addCommand(command.copyInheritedSettings(program));
    }
  };
  add("See:", [
    queuesCommand(running),
    lsCommand(running),
    findCommand(running),
    showCommand(running),
    deadCommand(running),
    statsCommand(running),
    tailCommand(running),
    groupsCommand(running),
    flowCommand(running),
    schedulesCommand(running),
    topicsCommand(running),
    workersCommand(running),
    doctorCommand(running),
  ]);
  add("Operate:", [
    redriveCommand(running),
    skipCommand(running),
    cancelCommand(running),
    forgetCommand(running),
    purgeCommand(running),
    pauseCommand(running, "pause"),
    pauseCommand(running, "resume"),
    settingsCommand(running),
    partitionsCommand(running),
    endpointsCommand(running),
    subscribeCommand(running),
    replayCommand(running),
    unsubscribeCommand(running),
    deleteCommand(running),
    sweepCommand(running),
    deployCommand(running),
  ]);
  add("Work by hand or script:", [
    enqueueCommand(running),
    publishCommand(running),
    pullCommand(running),
    settleCommand(running),
    exportCommand(running),
    importCommand(running),
  ]);
  add("Run:", [
    devCommand(io),
    serveCommand(io),
    gatewayCommand(io),
    tokenCommand(io),
    docsCommand(io),
    completionsCommand(io),
  ]);
  const help = new Command("help").argument("[command]").summary("show this help, or that of a command");
  return program.addHelpCommand(help.helpGroup("Run:"));
}
