import { createHash } from "node:crypto";
import { expect } from "vitest";
import { queueKeys } from "../../src/kernel/names/keys.ts";
import { callOf } from "../../src/kernel/scripts/binding.ts";
import { enqueuePlainScript } from "../../src/kernel/scripts/enqueue-plain-script.ts";
import { enqueueAndWakeScript } from "../../src/kernel/scripts/enqueue-and-wake-script.ts";
import { enqueueScript } from "../../src/kernel/scripts/enqueue-script.ts";
import type {
  Command,
  CommandOutcome,
  Reply,
  Script,
  ScriptCall,
  Transport,
} from "../../src/kernel/transport.ts";
import { readLua } from "../../tools/lua/files.ts";
import { scriptName } from "../../tools/lua/modules.ts";
import { partsOf, programOf } from "../../tools/lua/parts.ts";
import type { KeySpace } from "./key-space.ts";
import { withoutPlainLanes } from "./lanes.ts";

/** The prefix of the keys for calls without plain lanes. */
const FULL = "full";

let made: ReadonlyMap<string, Script> | undefined;

/** The scripts without their plain lanes, by name. They are made once in a process. */
const fullScripts = (): ReadonlyMap<string, Script> => (made ??= makeFullScripts());

function makeFullScripts(): ReadonlyMap<string, Script> {
  const { shared, scripts } = withoutPlainLanes(readLua());
  const parts = partsOf(shared);
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

/**
 * Sends each call a second time, to other keys and without plain lanes, and expects the same reply. What
 * `enqueue-plain` has added, `enqueue` adds there.
 */
export function bothLanes(transport: Transport): Transport {
  const scripts = fullScripts();
  const full = (command: Command): Command => {
    if (!("script" in command)) return command.map((word) => other(word)) as unknown as Command;
    const call = isPlainCall(command) ? enqueueOf(command) : command;
    const script = scripts.get(call.script.name);
    if (!script) throw new Error(`no script ${call.script.name}`);
    return { ...call, script, keys: call.keys.map(other) };
  };
  return {
    async send(commands, options) {
      const outcomes: CommandOutcome[] = await transport.send(commands, options);
      // What `enqueue-plain` has not written, its caller sends again.
      const ran = commands.filter((_, i) => statusOf(outcomes[i]) !== "not_plain");
      const again = await transport.send(ran.map(full), options);
      const replies = outcomes.filter((outcome) => statusOf(outcome) !== "not_plain");
      expect(again.map((outcome, i) => comparable(ran[i] as Command, outcome, "full"))).toEqual(
        replies.map((outcome, i) => comparable(ran[i] as Command, outcome, "plain")),
      );
      return outcomes;
    },
  };
}

const statusOf = (outcome: CommandOutcome | undefined) =>
  outcome && "reply" in outcome && Array.isArray(outcome.reply) && (outcome.reply as readonly Reply[])[0];

const PLAIN: readonly Script[] = [enqueuePlainScript.script, enqueueAndWakeScript.script];

const isPlainCall = (command: Command) => "script" in command && PLAIN.includes(command.script);

/** The call of `enqueue` for one of `enqueue-plain` or `enqueue-and-wake`. */
function enqueueOf({ script, keys, args }: ScriptCall): ScriptCall {
  const [, prefix, queue = ""] = /^(.+):\{(.+)\}:pending$/.exec(keys[0] ?? "") ?? [];
  const isWaking = script === enqueueAndWakeScript.script;
  const [testNow = "", given = ""] = args;
  const rest = args.slice(isWaking ? enqueueAndWakeScript.args.length : enqueuePlainScript.args.length);
  const items = Array.from({ length: rest.length / 2 }, (_, i) => {
    const [id = "", record = ""] = rest.slice(2 * i);
    return { id, when: "", unique: "", record };
  });
  const options = isWaking ? { withSettings: "", wake: given } : { withSettings: given, wake: "" };
  const all = { testNow, ...options, refuseEach: "", slots: "" };
  return callOf(enqueueScript, queueKeys(queue, prefix), all, items);
}

/** Without what `enqueue` and `enqueue-plain` answer differently: the first may not have read the settings. */
function comparable(command: Command, outcome: CommandOutcome, lane: "plain" | "full"): CommandOutcome {
  if (!isPlainCall(command) || statusOf(outcome) !== "ok") return outcome;
  const call = command as ScriptCall;
  const [status, , third = 0, ...created] = (outcome as { reply: readonly Reply[] }).reply;
  expect(created.filter((one) => one !== 1)).toEqual([]);
  // `enqueue-and-wake` says how long a consumer counts as awake; 0: one is to be woken.
  const hasTime = lane === "plain" && call.script === enqueueAndWakeScript.script;
  const wake = hasTime ? Number(third === 0) : third;
  return { reply: [status, wake] as Reply };
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
