/** A function instance: a queue over a transport of its own, which has its own memory. */
import { Queue, type Command, type Transport } from "../../../../src/index.ts";
import { linked } from "../../../../src/features/linked/index.ts";
import { type PartitionMap, readMap } from "../../../../src/features/partitions/map.ts";
import { ownSlotsScript, putMapScript } from "../../../../src/features/partitions/partition-scripts.ts";
import { listWorkScript, setIdleScript } from "../../../../src/features/partitions/turn-scripts.ts";
import type { CommandOutcome } from "../../../../src/kernel/transport.ts";
import type { PartitionedOperation } from "./operations.ts";

/** What a function instance knows, as its requests show. */
export interface Known {
  /** The last map that it has read; undefined if it has read none. */
  map: PartitionMap | undefined;
  /** The scores that it has read last, by the name of the partition. */
  scores: Map<string, number>;
}

/** Thrown by a transport whose process has died. */
export class Stopped extends Error {}

/** What happens around the requests of one call. */
export interface Around {
  /** Before the request with that number, from 0. */
  readonly before?: ((request: number) => Promise<void>) | undefined;
  /** After how many requests the process dies. */
  readonly stopAfter?: number | undefined;
  /** After requests that change owners. */
  readonly afterChange: () => Promise<void>;
}

/** What makes calls. */
export interface Caller {
  readonly known: Known;
}

/** Another client than the library. It makes those calls of an instance that it offers. */
export interface OtherClient extends Caller {
  offers(operation: PartitionedOperation): boolean;
  call(around: Around, operation: PartitionedOperation, now: number): Promise<unknown>;
  /** Forgets all that it knows. */
  renew(): void;
}

export class Instance implements Caller {
  readonly transport: Transport;
  readonly queue: Queue<number>;
  readonly known: Known = { map: undefined, scores: new Map() };
  around: Around | undefined;
  #requests = 0;

  /**
   * @param partitions how many the instance declares; undefined: it does not know of partitions
   * @param isLinked whether it sends the linked edition of the scripts
   */
  constructor(given: Transport, now: () => number, partitions: number | undefined, isLinked: boolean) {
    const sent = isLinked ? linked(given) : given;
    // Without a name of the database: the memory of an instance belongs to this object.
    this.transport = {
      ...sent,
      send: async (commands, options) => {
        const request = this.#requests++;
        const { around } = this;
        if (around?.stopAfter !== undefined && request >= around.stopAfter) throw new Stopped("stopped");
        await around?.before?.(request);
        const outcomes = await sent.send(commands, options);
        this.#note(commands, outcomes);
        if (commands.some((command) => isOf(command, ownSlotsScript) || isOf(command, putMapScript))) {
          await around?.afterChange();
        }
        return outcomes;
      },
    };
    this.queue = new Queue<number>("emails", {
      transport: this.transport,
      now,
      partitions,
      resultTtl: "20m",
      deadTtl: "30m",
    });
  }

  /** Makes one call. */
  async call<T>(around: Around, what: () => Promise<T>): Promise<T> {
    this.#requests = 0;
    this.around = around;
    try {
      return await what();
    } finally {
      this.around = undefined;
    }
  }

  #note(commands: readonly Command[], outcomes: readonly CommandOutcome[]): void {
    for (const [i, command] of commands.entries()) {
      const outcome = outcomes[i];
      if (!outcome || !("reply" in outcome)) continue;
      if (!("script" in command)) {
        if (command[0] === "HGET" && command[2] === "emails") this.#noteMap(outcome.reply as string | null);
      } else if (isOf(command, putMapScript)) {
        if (command.args[0] === "emails") this.#noteMap((outcome.reply as string[])[1] ?? "");
      } else if (isOf(command, listWorkScript)) {
        const [, , ...scores] = outcome.reply as (string | number)[];
        const names = command.args.slice(1);
        this.known.scores = new Map(names.map((name, j) => [name, Number(scores[j])]));
      } else if (isOf(command, setIdleScript)) {
        // The instance counts these as idle until it reads the registry again.
        for (let j = 0; j < command.args.length; j += 3) {
          this.known.scores.set(command.args[j] as string, Number(command.args[j + 2]));
        }
      }
    }
  }

  #noteMap(text: string | null): void {
    this.known.map = readMap(text);
  }
}

function isOf(command: Command, binding: { readonly script: unknown }): boolean {
  return "script" in command && command.script === binding.script;
}
