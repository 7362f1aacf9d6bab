import { createHash } from "node:crypto";
import type { Command, Transport } from "../../src/index.ts";
import { MAX_STEP } from "../../src/queue/bounded-run.ts";

/** A transport that asks redrive and purge for 1,000 tasks a call, as the scripts allow. */
export function manyAtOnce(transport: Transport): Transport {
  const larger = (command: Command): Command =>
    "script" in command
      ? { ...command, args: command.args.map((arg) => (arg === String(MAX_STEP) ? "1000" : arg)) }
      : command;
  return { send: (commands, options) => transport.send(commands.map(larger), options) };
}

/** A transport to a Redis that takes so many writes of records in a script, and has no room for another. */
export function roomFor(transport: Transport, writes: number): Transport {
  const fault = `
    local real, left = redis, ${writes}
    local redis = { call = real.call, pcall = function(command, ...)
      if command == 'HSET' then
        left = left - 1
        if left < 0 then return { err = 'OOM command not allowed' } end
      end
      return real.pcall(command, ...)
    end }
  `;
  const faulty = (command: Command): Command => {
    if (!("script" in command)) return command;
    const source = fault + command.script.source;
    return {
      ...command,
      script: { ...command.script, source, sha1: createHash("sha1").update(source).digest("hex") },
    };
  };
  return { send: (commands, options) => transport.send(commands.map(faulty), options) };
}
