/** The real queue: three clients, one of them over the HTTP interface, on a Redis of their own. */
import type { Command, Transport } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { dequeueScript, settleAndDequeueScript } from "../../../src/kernel/scripts/take-scripts.ts";
import { enqueuePlainScript } from "../../../src/kernel/scripts/enqueue-plain-script.ts";
import { enqueueAndWakeScript } from "../../../src/kernel/scripts/enqueue-and-wake-script.ts";
import { enqueueAndLeaseScript } from "../../../src/features/hand-over/index.ts";
import { enqueueScript } from "../../../src/kernel/scripts/enqueue-script.ts";
import { inEdition } from "../../support/edition.ts";
import { type KeySpace, queueSpace, readKeySpace, zsetIn, type QueueSpace } from "../../support/key-space.ts";
import { casesOf } from "./cases.ts";
import { Client } from "./client.ts";
import { mortal } from "./flows/mortal.ts";
import { HttpClient } from "./http-client.ts";
import { pullOf, type Mishap, type Operation } from "./operations.ts";
import type { ModelDeadLetter } from "./state.ts";
import { Way } from "./way.ts";

/** The name of the queue. */
export const NAME = "emails";

/** Whether the scripts that add tasks read the settings for one task too, by their arguments. */
const LOOKS = new Map<string, (args: readonly string[]) => boolean>([
  [enqueueScript.script.name, ([, withSettings]) => withSettings === "1"],
  [enqueuePlainScript.script.name, ([, withSettings]) => withSettings === "1"],
  [enqueueAndWakeScript.script.name, ([, , ifEmpty]) => ifEmpty === ""],
  [enqueueAndLeaseScript.script.name, () => true],
]);

/** The scripts that dequeue. Their other edition has the same names. */
const PULLS = [dequeueScript.script.name, settleAndDequeueScript.script.name];

const CLIENTS = [Client, Client, HttpClient] as const;

/** A script that adds tasks, as it was called. */
export interface Adding {
  readonly script: "enqueue" | "enqueuePlain" | "enqueueAndWake" | "enqueueAndLease";
  /** Whether it reads the settings for one task too. */
  readonly look: boolean;
}

/** The result of one call. */
export interface Happened {
  /** Which one it is. */
  readonly nth: number;
  readonly answer: unknown;
  /** What the call has sent to add tasks: another script if the first has written nothing. */
  readonly adding: readonly Adding[];
  /** The registry of queues before. */
  readonly registry: ReadonlyMap<string, number>;
  readonly before: QueueSpace;
  readonly after: QueueSpace;
  /** All keys after it. */
  readonly keys: KeySpace;
}

export class Real {
  now = 0;
  /** How often a consumer was woken. */
  woken = 0;
  /** The dead letters that the last call reported. */
  deadLetters: readonly ModelDeadLetter[] = [];
  /** How many calls were made in all. */
  calls = 0;
  /** The cases covered, see {@link casesOf}. */
  readonly met = new Set<string>();
  readonly way: Way;
  #keys: KeySpace;
  /** By the name of the queue. */
  #clients: ReadonlyMap<string, readonly Client[]> = new Map();
  #adding: Adding[] = [];
  /** How many more requests the caller can make before it dies. */
  #requestsLeft = Number.POSITIVE_INFINITY;
  #flagged = true;

  static async start(): Promise<Real> {
    const way = await Way.start();
    return new Real(way, await readKeySpace(way.direct));
  }

  private constructor(way: Way, keys: KeySpace) {
    this.way = way;
    this.#keys = keys;
  }

  /**
   * A new queue, and clients without memory of another.
   * @param isLinked whether they send the linked edition of the scripts
   * @param names of the queues. Each client has all of them
   */
  async reset(now: number, isLinked: boolean, names: readonly string[] = [NAME]): Promise<void> {
    await this.way.direct.sendCommand(["FLUSHALL"]);
    this.now = now;
    this.woken = 0;
    const transports = CLIENTS.map(() => {
      const way = this.way.transport((command) => this.#onItsWay(command));
      return (isLinked ? linked : inEdition)(mortal(way, () => this.#requestsLeft-- > 0));
    });
    const clientsOf = (name: string) =>
      CLIENTS.map(
        (Kind, i) =>
          new Kind({
            name,
            names,
            transport: transports[i] as Transport,
            now: () => this.now,
            wake: () => void this.woken++,
            onDeadLetter: ({ id, reason, attempts }) =>
              void (this.deadLetters = [...this.deadLetters, { id, reason, attempts }]),
          }),
      );
    this.#clients = new Map(names.map((name) => [name, clientsOf(name)]));
    this.#keys = await readKeySpace(this.way.direct);
  }

  #onItsWay(command: Command): Command {
    if (!("script" in command)) return command;
    const look = LOOKS.get(command.script.name)?.(command.args);
    if (look !== undefined) this.#adding.push({ script: command.script.name as Adding["script"], look });
    // A first copy has no mark; the transport's own resends have one.
    // Its arguments are the first of a settle with dequeue too.
    if (PULLS.includes(command.script.name) && !this.#flagged) {
      // Each call that goes on after that first one has the mark.
      this.#flagged = true;
      return { ...command, args: command.args.with(dequeueScript.args.indexOf("resend"), "") };
    }
    return command;
  }

  /** Clients, by number, whose deep sweep has not ended yet. */
  sweeping(): number[] {
    return (this.#clients.get(NAME) ?? []).flatMap(({ sweeping }, by) => (sweeping ? [by] : []));
  }

  /** Makes one call. Returns its answer and the keys before and after. */
  async run(operation: Operation, by: number, mishap: Mishap, name: string = NAME): Promise<Happened> {
    const client = this.#clients.get(name)?.[by % CLIENTS.length] as Client;
    this.#flagged = pullOf(operation)?.flagged ?? true;
    this.calls++;
    this.deadLetters = [];
    this.#adding = [];
    if (operation.does === "dying") this.#requestsLeft = 1 + operation.requests;
    const answer = await this.way.call(mishap, 1, () => client.call(operation));
    this.#requestsLeft = Number.POSITIVE_INFINITY;
    const before = queueSpace(this.#keys, name);
    const registry = zsetIn(this.#keys, "sluice:queues");
    const keys = await readKeySpace(this.way.direct);
    this.#keys = keys;
    const happened = {
      nth: this.calls,
      answer,
      adding: this.#adding,
      registry,
      before,
      after: queueSpace(keys, name),
      keys,
    };
    for (const one of casesOf(operation, happened)) this.met.add(one);
    return happened;
  }
}
