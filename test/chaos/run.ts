import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { dice } from "../support/dice.ts";
import type { Role } from "./processes.ts";
import { Causes } from "./causes.ts";
import { Evidence, type Life } from "./evidence.ts";
import { counted, type Figures, killed, recovery } from "./figures.ts";
import { readHistory } from "./history.ts";
import { Ledger, readLedgers } from "./ledger.ts";
import { ClusterStack } from "./cluster-stack.ts";
import { SERVER, SingleStack, type Stack, type Trouble } from "./stack.ts";
import { judge } from "./verdict.ts";
import { LEASE } from "./work.ts";

export interface ChaosOptions {
  /**
   * How long things go wrong, with each kind of trouble at least once. Then the run needs some more to end.
   */
  readonly seconds: number;
  readonly seed: number;
  /** Folder of the ledgers. After a violation, Redis's file is there too. */
  readonly folder: string;
  /** Whether on a cluster of three masters and three replicas, in place of a Redis behind a gateway. */
  readonly cluster?: boolean;
}

export interface ChaosReport {
  readonly figures: Figures;
  /** What was wrong; empty if nothing was. */
  readonly violations: readonly string[];
}

/** From the end of one trouble to the next, ms. */
const PAUSE = 400;
/** How long the rest may take in the end, ms: leases expire, failed tasks are delivered again. */
const PEACE = 60_000;

/**
 * Lets processes produce, consume and sweep while they, the gateway, the server and Redis are killed and
 * paused at random; then compares what they wrote down with what Redis has written. The seed decides what
 * goes wrong; when, depends on the machine too.
 */
export async function chaos({ seconds, seed, folder, cluster = false }: ChaosOptions): Promise<ChaosReport> {
  mkdirSync(folder, { recursive: true });
  const ledger = new Ledger(folder, "director");
  const next = dice(seed);
  const roll = (sides: number) => Math.floor(next() * sides);
  const began = Date.now();
  const stack = await (cluster ? ClusterStack : SingleStack).open({ folder, ledger, roll }, seconds);
  const until = Date.now() + seconds * 1_000;
  try {
    const director = new Director(stack, roll, cluster ? FEW : MANY);
    while (Date.now() < until || director.rounds < 2) {
      await director.trouble();
      await sleep(PAUSE + roll(PAUSE));
    }
    const violations = [...(await director.peace()), ...director.found];
    const evidence = new Evidence(readLedgers(folder));
    const { commands, faults } = await stack.history();
    const history = readHistory(commands);
    const judgement = judge(history, evidence, new Causes(evidence), stack.ticks);
    const rolesOf = (times: (life: Life) => number) =>
      [...evidence.lives].flatMap(([name, life]) => Array<string>(times(life)).fill(roleOf(name)));
    const kills = (roles: RegExp) => killed(evidence, roles).map((life) => life.until);
    violations.push(...judgement.violations, ...faults);
    if (violations.length > 0) stack.keepFiles(folder);
    return {
      violations,
      figures: {
        ...judgement.tally,
        seconds: Math.round((Date.now() - began) / 1_000),
        processes: evidence.lives.size,
        kills: counted(rolesOf(({ killed }) => (killed ? 1 : 0))),
        pauses: counted(rolesOf(({ pauses }) => pauses.length)),
        faults: counted(evidence.faults.map(({ kind }) => kind)),
        looks: director.looks,
        recoveryFromRedis: recovery(history, kills(/^redis/)),
        recoveryFromConsumer: recovery(history, kills(/^(?:drain|hand|worker)/)),
      },
    };
  } finally {
    await stack.close();
  }
}

/** Such as `drain` of `drain-1.3`. */
const roleOf = (process: string) => process.replace(/[-.].*/, "");

/** How often each trouble of the processes is in a deck. */
const MANY = { kill: 4, pause: 3 };
/** Beside the troubles of a cluster, which take longer. */
const FEW = { kill: 2, pause: 1 };

/** Makes trouble. */
class Director {
  looks = 0;
  /** How many decks of troubles were used up. */
  rounds = 0;
  /** Invariants that were violated during the run. */
  readonly found: string[] = [];
  readonly #stack: Stack;
  readonly #roll: (sides: number) => number;
  /** By process. */
  readonly #pauses = new Map<string, Promise<void>>();
  readonly #consumers: typeof MANY;
  #deck: Trouble[] = [];

  constructor(stack: Stack, roll: (sides: number) => number, consumers: typeof MANY) {
    this.#stack = stack;
    this.#consumers = consumers;
    this.#roll = roll;
  }

  /** The next trouble from the deck: all kinds come in proportion, in any order. */
  async trouble(): Promise<void> {
    if (this.#deck.length === 0) {
      this.#deck = this.#newDeck();
      this.rounds++;
    }
    await this.#deck.splice(this.#roll(this.#deck.length), 1)[0]?.();
  }

  #newDeck(): Trouble[] {
    const { processes } = this.#stack;
    const any = (program: Role["program"]) => {
      const roles = processes.of(program);
      return roles[this.#roll(roles.length)] as Role;
    };
    const kill = (program: Role["program"]) => () => processes.kill(any(program));
    const pause = (program: Role["program"]) => async () => this.#pause(any(program));
    const restartServer = async () => {
      await processes.kill(SERVER);
      await processes.settled([SERVER]);
      await this.#stack.answers(SERVER);
    };
    return [
      ...Array.from({ length: this.#consumers.kill }, () => kill("consumer")),
      ...Array.from({ length: this.#consumers.pause }, () => pause("consumer")),
      kill("producer"),
      pause("producer"),
      kill("sweeper"),
      pause("sweeper"),
      kill("deepSweeper"),
      pause("deepSweeper"),
      restartServer,
      pause("server"),
      ...this.#stack.troubles((role) => this.#pause(role)),
      this.#look,
      this.#look,
    ];
  }

  /** Pauses a process for longer than its lease, without waiting for the end of the pause. */
  #pause(role: Role): void {
    const process = this.#stack.processes.nameOf(role);
    if (this.#pauses.has(process)) return;
    const pause = this.#stack.processes.pause(role, () => sleep(LEASE + 500 + this.#roll(1_500)));
    this.#pauses.set(process, pause);
    void pause.finally(() => this.#pauses.delete(process));
  }

  /** Checks the raw keys. */
  readonly #look = async (): Promise<void> => {
    await Promise.all(this.#pauses.values());
    this.found.push(...(await this.#stack.look()));
    this.looks++;
  };

  /** Ends all trouble, and waits until all is done. Returns what is wrong. */
  async peace(): Promise<string[]> {
    const { processes } = this.#stack;
    await Promise.all(this.#pauses.values());
    await processes.settled();
    this.#stack.calm();
    await processes.end("producer");
    let left = 1;
    for (const end = Date.now() + PEACE; left > 0 && Date.now() < end; await sleep(300)) {
      left = await this.#stack.left();
    }
    for (const program of ["consumer", "sweeper", "deepSweeper", "server", "gateway"] as const)
      await processes.end(program);
    const found = await this.#stack.look();
    this.looks++;
    return left > 0
      ? [`${left} tasks have not ended ${PEACE} ms after the end of all trouble`, ...found]
      : found;
  }
}
