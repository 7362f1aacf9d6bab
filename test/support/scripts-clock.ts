import type { Command, Transport } from "../../src/kernel/transport.ts";
import { bindings } from "./bindings.ts";

/** At which place among its arguments a script takes the test's clock. */
const places = new Map(bindings.map(({ script, args }) => [script.name, args.indexOf("testNow")] as const));

/** The same transport to a Redis with this clock: it is that of each script whose caller gives none. */
export function scriptsAt({ send, ...transport }: Transport, now: () => number): Transport {
  const at = (command: Command): Command => {
    const place = "script" in command ? (places.get(command.script.name) ?? -1) : -1;
    if (!("script" in command) || place < 0 || command.args[place] !== "") return command;
    return { ...command, args: command.args.with(place, String(now())) };
  };
  return { ...transport, send: (commands, options) => send(commands.map(at), options) };
}
