import type { Binding } from "../../src/queue/redis/binding.ts";
import * as operate from "../../src/queue/redis/operate-scripts.ts";
import * as schedules from "../../src/queue/redis/schedule-scripts.ts";
import * as settings from "../../src/queue/redis/settings-scripts.ts";
import * as sweeps from "../../src/queue/redis/sweep-scripts.ts";
import * as tasks from "../../src/queue/redis/task-scripts.ts";
import type { Command, Transport } from "../../src/queue/redis/transport.ts";

const isBinding = (one: unknown): one is Binding =>
  typeof one === "object" && one !== null && "script" in one && "args" in one;

/** At which place among its arguments a script takes the test's clock. */
const places = new Map(
  [operate, schedules, settings, sweeps, tasks]
    .flatMap((scripts): unknown[] => Object.values(scripts))
    .filter(isBinding)
    .map(({ script, args }) => [script, args.indexOf("testNow")] as const),
);

/** The same transport to a Redis with this clock: it is that of each script whose caller gives none. */
export function scriptsAt({ send, ...transport }: Transport, now: () => number): Transport {
  const at = (command: Command): Command => {
    const place = "script" in command ? (places.get(command.script) ?? -1) : -1;
    if (!("script" in command) || place < 0 || command.args[place] !== "") return command;
    return { ...command, args: command.args.with(place, String(now())) };
  };
  return { ...transport, send: (commands, options) => send(commands.map(at), options) };
}
