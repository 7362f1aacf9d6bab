import { topics as part, Topics, type TopicsOptions } from "../../../src/http/topics/index.ts";
import { Queue, type QueueOptions, sweep } from "../../../src/index.ts";
import type { Command, Transport } from "../../../src/kernel/transport.ts";
import { useRig } from "../../support/rig.ts";

/** A rig with topics. */
export function useTopicRig() {
  const rig = useRig({ checkInvariants: false });
  const now = () => rig.now;

  /**
   * Another function instance: its transport has no memory of earlier calls.
   * @param before called before each request, with its commands and its number; may throw
   */
  function instance(before: (names: readonly string[], n: number) => unknown = () => {}) {
    const requests: Command[][] = [];
    const send: Transport["send"] = async (commands, options) => {
      requests.push([...commands]);
      await before(commands.map(nameOf), requests.length);
      return rig.transport.send(commands, options);
    };
    const transport: Transport = { ...rig.transport, database: undefined, send };
    return {
      transport,
      requests,
      /** The names of the commands of each request, since the last call. */
      names: () => requests.splice(0).map((commands) => commands.map(nameOf)),
      topics: (options: Partial<TopicsOptions> = {}) => new Topics({ transport, now, ...options }),
    };
  }

  return {
    rig,
    instance,
    topics: (options: Partial<TopicsOptions> = {}) =>
      new Topics({ transport: rig.transport, now, ...options }),
    queue: <T = unknown>(name: string, options: Partial<QueueOptions<T>> = {}) =>
      new Queue<T>(name, { transport: rig.transport, now, ...options }),
    /** The ids of the tasks that a queue has ready, which it then works on. */
    async take(name: string, options: Partial<QueueOptions> = {}): Promise<string[]> {
      const queue = new Queue(name, { transport: rig.transport, now, ...options });
      return (await queue.dequeue({ max: 1_000 })).map(({ id }) => id);
    },
    sweep: (transport = rig.transport) => sweep(transport, { now, also: [part] }),
  };
}

/** The name of a command, or of its script. */
export const nameOf = (command: Command): string => ("script" in command ? command.script.name : command[0]);
