/** The real queue: three clients, one of them over the HTTP interface, on a Redis of their own. */
import type { Command } from "../../../src/index.ts";
import { linked } from "../../../src/features/linked/index.ts";
import { dequeueScript, settleAndDequeueScript } from "../../../src/kernel/scripts/take-scripts.ts";
import { enqueuePlainScript } from "../../../src/kernel/scripts/enqueue-plain-script.ts";
import { enqueueAndWakeScript } from "../../../src/kernel/scripts/enqueue-and-wake-script.ts";
import { enqueueAndLeaseScript } from "../../../src/features/hand-over/index.ts";
import { enqueueScript } from "../../../src/kernel/scripts/enqueue-script.ts";
import { inEdition } from "../../support/edition.ts";
import { queueSpace, readKeySpace, zsetIn, type QueueSpace } from "../../support/key-space.ts";
import { casesOf } from "./cases.ts";
import { Client } from "./client.ts";
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
  /** Whether the queue was in the registry before. */
  readonly registered: boolean;
  readonly before: QueueSpace;
  readonly after: QueueSpace;
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
  #space: QueueSpace;
  #clients: readonly Client[] = [];
  #adding: Adding[] = [];
  #registered = false;
  #flagged = true;

  static async start(): Promise<Real> {
    const way = await Way.start();
    return new Real(way, queueSpace(await readKeySpace(way.direct), NAME));
  }

  private constructor(way: Way, space: QueueSpace) {
    this.way = way;
    this.#space = space;
  }

  /**
   * A new queue, and clients without memory of another.
   * @param isLinked whether they send the linked edition of the scripts
   */
  async reset(now: number, isLinked: boolean): Promise<void> {
    await this.way.direct.sendCommand(["FLUSHALL"]);
    this.now = now;
    this.woken = 0;
    this.#registered = false;
    this.#clients = CLIENTS.map(
      (Kind) =>
        new Kind({
          name: NAME,
          transport: (isLinked ? linked : inEdition)(
            this.way.transport((command) => this.#onItsWay(command)),
          ),
          now: () => this.now,
          wake: () => void this.woken++,
          onDeadLetter: ({ id, reason, attempts }) =>
            void (this.deadLetters = [...this.deadLetters, { id, reason, attempts }]),
        }),
    );
    this.#space = queueSpace(await readKeySpace(this.way.direct), NAME);
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
    return this.#clients.flatMap(({ sweeping }, by) => (sweeping ? [by] : []));
  }

  /** Makes one call. Returns its answer and the keys before and after. */
  async run(operation: Operation, by: number, mishap: Mishap): Promise<Happened> {
    const client = this.#clients[by % CLIENTS.length] as Client;
    this.#flagged = pullOf(operation)?.flagged ?? true;
    this.calls++;
    this.deadLetters = [];
    this.#adding = [];
    const answer = await this.way.call(mishap, 1, () => client.call(operation));
    const before = this.#space;
    const registered = this.#registered;
    const keys = await readKeySpace(this.way.direct);
    this.#registered = zsetIn(keys, "sluice:queues").has(NAME);
    this.#space = queueSpace(keys, NAME);
    const happened = {
      nth: this.calls,
      answer,
      adding: this.#adding,
      registered,
      before,
      after: this.#space,
    };
    for (const one of casesOf(operation, happened)) this.met.add(one);
    return happened;
  }
}
