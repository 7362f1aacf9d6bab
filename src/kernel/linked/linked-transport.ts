/**
 * The linked edition of the scripts, which knows tasks that depend on each other: groups in strict order. It does all
 * that the plain edition does, by the same commands for plain tasks, and is larger.
 */
import { linkedScripts } from "../../lua/linked.gen.ts";
import type { Command, Script, Transport } from "../transport.ts";

const editions = new WeakMap<Transport, Transport>();
const loaded = new Map<string, Script>();

/**
 * A transport for queues whose tasks may depend on each other: with groups in strict order. Give it to all that works on
 * such a queue: `Queue`, `Producer`, `sweep`, and the `transport` of `defineQueue`. Deployments, `createApp`, tests and
 * `Operator` do so by themselves. Without it, calls on such a queue throw `newer_schema`.
 * @param transport any other transport
 * @returns the same one for the same transport
 * @example const ledger = new Queue("ledger", { transport: linked(upstash(env)) });
 */
export function linked(transport: Transport): Transport {
  const known = editions.get(transport);
  if (known) return known;
  const link: Transport = {
    ...transport,
    send: async (commands, options) => transport.send(await inEdition(commands), options),
  };
  editions.set(transport, link);
  editions.set(link, link);
  return link;
}

/** The same commands, with the linked edition of their scripts. */
async function inEdition(commands: readonly Command[]): Promise<readonly Command[]> {
  for (const command of commands) {
    if (!("script" in command)) continue;
    const { name } = command.script;
    const load = linkedScripts[name];
    if (load && !loaded.has(name)) loaded.set(name, await load());
  }
  return commands.map((command) => {
    const script = "script" in command ? loaded.get(command.script.name) : undefined;
    return script ? { ...(command as Extract<Command, { script: Script }>), script } : command;
  });
}
