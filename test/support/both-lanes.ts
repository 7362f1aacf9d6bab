import { createHash } from "node:crypto";
import { expect } from "vitest";
import type { Command, CommandOutcome, Script, Transport } from "../../src/queue/redis/transport.ts";
import { readLua } from "../../tools/lua/files.ts";
import { scriptName } from "../../tools/lua/modules.ts";
import { partsOf, programOf } from "../../tools/lua/parts.ts";
import type { KeySpace } from "./key-space.ts";
import { withoutPlainLanes } from "./lanes.ts";

/** The prefix of the keys for calls without plain lanes. */
const FULL = "full";

/** The scripts without their plain lanes, by name. */
function fullScripts(): ReadonlyMap<string, Script> {
  const { lib, scripts } = withoutPlainLanes(readLua());
  const parts = partsOf(lib);
  return new Map(
    scripts.map((file) => {
      const pieces = programOf(file, parts);
      const source = pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("");
      const sha1 = createHash("sha1").update(source).digest("hex");
      const name = scriptName(file.file);
      return [name, { name, source, sha1, keyLockingSha1: "" }];
    }),
  );
}

/** Sends each call a second time, to other keys and without plain lanes, and expects the same reply. */
export function bothLanes(transport: Transport): Transport {
  const scripts = fullScripts();
  const full = (command: Command): Command => {
    if (!("script" in command)) return command.map((word) => other(word)) as unknown as Command;
    const script = scripts.get(command.script.name);
    if (!script) throw new Error(`no script ${command.script.name}`);
    return { ...command, script, keys: command.keys.map(other) };
  };
  return {
    async send(commands, options) {
      const outcomes: CommandOutcome[] = await transport.send(commands, options);
      expect(await transport.send(commands.map(full), options)).toEqual(outcomes);
      return outcomes;
    },
  };
}

const other = (key: string) => key.replace(/^sluice:/, `${FULL}:`);

/** The key space after {@link bothLanes}, by lane. */
export function byLane(space: KeySpace): { plain: KeySpace; full: KeySpace } {
  const of = (prefix: string) =>
    Object.fromEntries(
      Object.entries(space).flatMap(([key, value]) =>
        key.startsWith(`${prefix}:`) ? [[key.slice(prefix.length), value]] : [],
      ),
    );
  return { plain: of("sluice"), full: of(FULL) };
}
