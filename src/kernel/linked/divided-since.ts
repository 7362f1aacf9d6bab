/** Calls on queues that were divided after a flow had noted where its nodes are. */
import { isWrongType } from "../scripts/wrong-type.ts";
import type { Command, CommandOutcome, Transport } from "../transport.ts";

/** Scripts that are called by the names of partitions which a flow has noted, and by these alone. */
const OF_FLOWS = /^(notify|endFlow|cancelNodes|add(Flow|Before)|read(Outbox|Nodes))$/;

/** Whether a command is on a partition that a flow has noted. A producer that adds a flow must read the map again. */
function isOfFlow(command: Command): boolean {
  if ("script" in command) {
    const { script, args } = command;
    return OF_FLOWS.test(script.name) && !(script.name === "addFlow" && args[3] === "1");
  }
  return /^~[Fx]:/.test(String(command[2]));
}

/** A key of a queue that is not divided, as that of its first partition. */
const ofFirst = (key: string) => key.replace(/^(.*:\{[^}/]+\})(:[a-z-]+)$/, "$1/0$2");

const inFirst = (command: Command): Command =>
  "script" in command
    ? { ...command, keys: command.keys.map(ofFirst) }
    : ([command[0], ofFirst(String(command[1])), ...command.slice(2)] as unknown as Command);

/**
 * Sends what fails because its queue was divided meanwhile again, to the first partition, which has all that the queue had.
 * The first copy has changed nothing.
 * @param concerns which commands. @default those of flows
 */
export function dividedSince(transport: Transport, concerns = isOfFlow): Transport {
  return {
    ...transport,
    send: async (commands, options) => {
      const outcomes: CommandOutcome[] = [...(await transport.send(commands, options))];
      const places = [...outcomes.keys()].filter((i) => {
        const outcome = outcomes[i] as CommandOutcome;
        return "error" in outcome && isWrongType(outcome.error) && concerns(commands[i] as Command);
      });
      if (places.length === 0) return outcomes;
      const again = await transport.send(
        places.map((i) => inFirst(commands[i] as Command)),
        options,
      );
      for (const [k, i] of places.entries()) outcomes[i] = again[k] as CommandOutcome;
      return outcomes;
    },
  };
}
