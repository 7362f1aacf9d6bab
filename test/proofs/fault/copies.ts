/** Sends every request of a scenario twice, and looks for an effect of the second copy. */
import { isDeepStrictEqual } from "node:util";
import type { Command, Transport } from "../../../src/kernel/transport.ts";
import { comparable } from "../../support/day.ts";
import type { KeySpace } from "../../support/key-space.ts";
import type { Rig } from "../../support/rig.ts";

/** What happens to each request. */
export type Disturbance =
  /** It runs, its reply is lost, and it is sent again. */
  | "lost"
  /** It is sent again and answered. Its first copy runs only after it, or after any later request. */
  | "late";

/** A copy that changed a key. */
interface Effect {
  readonly copyOf: number;
  readonly after: number;
  readonly was: KeySpace;
  readonly is: KeySpace;
}

/**
 * A transport on which requests meet the disturbance. A copy that leaves each key as it was changes nothing later
 * either. So one run tries all late copies after each request, and takes back the marks that they may leave.
 */
export function disturbed(rig: Rig, { send }: Transport, disturbance: Disturbance) {
  const sent: (readonly Command[])[] = [];
  const effects: Effect[] = [];
  const compare = (copyOf: number, was: KeySpace, is: KeySpace) => {
    const same = isDeepStrictEqual(comparable(is), comparable(was));
    if (!same) effects.push({ copyOf, after: sent.length - 1, was, is });
  };

  async function lost(...[commands, options]: Parameters<Transport["send"]>) {
    await send(commands);
    const was = await rig.keySpace();
    const outcomes = await send(asResend(commands), options);
    compare(sent.length - 1, was, await rig.keySpace());
    return outcomes;
  }

  async function late(...[commands, options]: Parameters<Transport["send"]>) {
    const outcomes = await send(asResend(commands), options);
    const was = await rig.keySpace();
    for (const [copyOf, first] of sent.entries()) {
      await send(first);
      const is = await rig.keySpace();
      compare(copyOf, was, is);
      await putBack(rig, was, is);
    }
    return outcomes;
  }

  let last: Promise<unknown> = Promise.resolve();
  const transport: Transport = {
    // One after the other, so that a change is that of one copy.
    send(commands, options) {
      const outcomes = last.then(() => {
        sent.push(commands);
        return { lost, late }[disturbance](commands, options);
      });
      last = outcomes.catch(() => undefined);
      return outcomes;
    },
  };
  return { transport, sent, effects };
}

/** The commands as every copy after the first sends them. */
function asResend(commands: readonly Command[]): Command[] {
  return commands.map((command) =>
    "script" in command && command.resendArgs ? { ...command, args: command.resendArgs } : command,
  );
}

/** Restores what {@link comparable} leaves out: the slots of dequeues, and reminders. */
async function putBack({ command }: Rig, was: KeySpace, is: KeySpace): Promise<void> {
  for (const [name, value] of Object.entries(was)) {
    if (isDeepStrictEqual(value, is[name])) continue;
    await command("DEL", name);
    if ("hash" in value) await command("HSET", name, ...Object.entries(value.hash).flat());
    if ("zset" in value)
      await command("ZADD", name, ...value.zset.flatMap(([member, score]) => [String(score), member]));
  }
}
