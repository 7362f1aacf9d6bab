import { createHash } from "node:crypto";
import type { Command, Transport } from "../../src/index.ts";
import { MAX_STEP } from "../../src/operate/paged-run.ts";
import { inEdition } from "./edition.ts";

/** A transport that asks redrive and purge for 1,000 tasks a call, as the scripts allow. */
export function manyAtOnce(transport: Transport): Transport {
  const larger = (command: Command): Command =>
    "script" in command
      ? { ...command, args: command.args.map((arg) => (arg === String(MAX_STEP) ? "1000" : arg)) }
      : command;
  return { send: (commands, options) => transport.send(commands.map(larger), options) };
}

/** A transport to a Redis with room for that many writes of records in a script. */
export function roomFor(transport: Transport, writes: number): Transport {
  return refusing(
    transport,
    `local left = ${writes}
    local function refused() left = left - 1; return left < 0 end`,
  );
}

/** A transport to a Redis without room for a record of more than that many bytes. */
export function noRoomBeyond(transport: Transport, bytes: number): Transport {
  return refusing(
    transport,
    `local function refused(...)
      for _, value in ipairs({ ... }) do if #value > ${bytes} then return true end end
      return false
    end`,
  );
}

/**
 * @param refused Lua that declares a function of this name, which returns whether an HSET with its arguments
 *   fails
 */
function refusing(transport: Transport, refused: string): Transport {
  const fault = `
    ${refused}
    local real = redis
    local redis = { log = real.log, LOG_WARNING = real.LOG_WARNING, call = real.call, pcall = function(command, ...)
      if command == 'HSET' and refused(...) then return { err = 'OOM command not allowed' } end
      return real.pcall(command, ...)
    end }
  `;
  const faulty = (command: Command): Command => {
    if (!("script" in command)) return command;
    const source = fault + command.script.source;
    const sha1 = createHash("sha1").update(source).digest("hex");
    // By another name, so that it is not sent in another edition instead.
    const script = { ...command.script, name: `${command.script.name}WithoutRoom`, source, sha1 };
    return { ...command, script };
  };
  return inEdition({ send: (commands, options) => transport.send(commands.map(faulty), options) });
}
