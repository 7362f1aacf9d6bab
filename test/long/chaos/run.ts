import { mkdirSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { dice } from "../../support/dice.ts";
import type { Role } from "./processes.ts";
import { Causes } from "./causes.ts";
import { Evidence, type Life } from "./evidence.ts";
import { counted, type Figures, killed, recovery } from "./figures.ts";
import { judgeDeliveries } from "./deliveries-verdict.ts";
import { judgeFlows, missingIn } from "./flows-verdict.ts";
import { readHistory } from "./history.ts";
import { Ledger, readLedgers } from "./ledger.ts";
import { ClusterStack } from "./cluster-stack.ts";
import { PartitionStack } from "./partition-stack.ts";
import { endAll, SERVER, SingleStack, type Stack, type Trouble } from "./stack.ts";
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
  /** Whether through deployments, whose queues get more and fewer partitions. Not on a cluster. */
  readonly partitions?: boolean;
}

export interface ChaosReport {
  readonly figures: Figures;
  /** What was wrong; empty if nothing was. */
  readonly violations: readonly string[];
}

/** From the end of one trouble to the next, ms. */
const PAUSE = 400;
/** How many decks of troubles a run takes at most, if its time is over, and a kind of consumer was given no task. */
const MOST = 10;
/** How long the rest may take in the end, ms: leases expire, failed tasks are delivered again. */
const PEACE = 180_000;

/**
 * Lets processes produce, consume and sweep while they, the gateway, the server and Redis are killed and
 * paused at random; then compares what they wrote down with what Redis has written. The seed decides what
 * goes wrong; when, depends on the machine too.
 */
export async function chaos({
  seconds,
  seed,
  folder,
  cluster = false,
  partitions = false,
}: ChaosOptions): Promise<ChaosReport> {
  mkdirSync(folder, { recursive: true });
  const ledger = new Ledger(folder, "director");
  const next = dice(seed);
  const roll = (sides: number) => Math.floor(next() * sides);
  const began = Date.now();
  const kind = cluster ? ClusterStack : partitions ? PartitionStack : SingleStack;
  const stack = await kind.open({ folder, ledger, roll }, seconds);
  const until = Date.now() + seconds * 1_000;
  try {
    const director = new Director(stack, roll);
    while (
      Date.now() < until ||
      director.rounds < 2 ||
      (director.rounds < MOST && idle(stack, folder).length > 0)
    ) {
      await director.trouble();
      await sleep(PAUSE + roll(PAUSE));
    }
    const violations = [...(await director.peace()), ...director.found];
    const evidence = new Evidence(readLedgers(folder));
    const { commands, faults } = await stack.history();
    const history = readHistory(commands);
    const judgement = judge(history, evidence, new Causes(evidence), stack.ticks);
    const ofFlows = judgeFlows(history, evidence);
    const deliveries = judgeDeliveries(history, evidence);
    violations.push(...deliveries.violations);
    violations.push(...ofFlows.violations, ...(await stack.leftOfFlows()));
    const rolesOf = (times: (life: Life) => number) =>
      [...evidence.lives].flatMap(([name, life]) => Array<string>(times(life)).fill(roleOf(name)));
    const kills = (roles: RegExp) => killed(evidence, roles).map((life) => life.until);
    const figures: Figures = {
      ...judgement.tally,
      flows: ofFlows.tally,
      toReceivers: deliveries.tally,
      seconds: Math.round((Date.now() - began) / 1_000),
      processes: evidence.lives.size,
      handedOver: evidence.handedOver,
      kills: counted(rolesOf(({ killed }) => (killed ? 1 : 0))),
      pauses: counted(rolesOf(({ pauses }) => pauses.length)),
      faults: counted(evidence.faults.map(({ kind }) => kind)),
      looks: director.looks,
      recoveryFromRedis: recovery(history, kills(/^redis/)),
      recoveryFromConsumer: recovery(history, kills(/^(?:drain|hand|worker|node|lambda|edge)/)),
    };
    violations.push(...judgement.violations, ...faults);
    const { processes } = stack;
    const handsOver = processes.of("deployment").some(({ style }) => style === "edge");
    if (handsOver && evidence.handedOver === 0) violations.push("no task was handed over");
    violations.push(...idle(stack, folder).map((role) => `no ${role} was ever given a task`));
    const troubles = { ...figures.kills, ...figures.faults };
    violations.push(
      ...stack.certain.filter((kind) => !(kind in troubles)).map((kind) => `no trouble: ${kind}`),
    );
    if (deliveries.tally.delivered === 0) violations.push("nothing was delivered");
    violations.push(...missingIn(ofFlows.tally).map((what) => `of flows there were no ${what}`));
    if (violations.length > 0) stack.keepFiles(folder);
    return { violations, figures };
  } finally {
    await stack.close();
  }
}

/** The kinds of consumers that were given no task yet: nothing would be checked of them. */
function idle({ processes }: Stack, folder: string): string[] {
  const { deliveries } = new Evidence(readLedgers(folder));
  const busy = new Set(deliveries.map(({ by }) => roleOf(by)));
  const roles = [...processes.of("consumer"), ...processes.of("deployment")].map(({ name }) => roleOf(name));
  return [...new Set(roles)].filter((role) => !busy.has(role));
}

/** Such as `drain` of `drain-1.3`. */
const roleOf = (process: string) => process.replace(/[-.].*/, "");

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
  #deck: Trouble[] = [];

  constructor(stack: Stack, roll: (sides: number) => number) {
    this.#stack = stack;
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
    const { processes, shares } = this.#stack;
    const any = (program: Role["program"]) => {
      const roles = processes.of(program);
      return roles[this.#roll(roles.length)] as Role;
    };
    const kill = (program: Role["program"]) => () => processes.kill(any(program));
    const pause = (program: Role["program"]) => async () => this.#pause(any(program));
    const all = Object.entries(shares) as [Role["program"], { kill: number; pause: number }][];
    return [
      ...all.flatMap(([program, { kill: times }]) => Array<Trouble>(times).fill(kill(program))),
      ...all.flatMap(([program, { pause: times }]) => Array<Trouble>(times).fill(pause(program))),
      () => this.#stack.replace(SERVER),
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
    await endAll(processes);
    const found = await this.#stack.look();
    this.looks++;
    return left > 0
      ? [`${left} tasks have not ended ${PEACE} ms after the end of all trouble`, ...found]
      : found;
  }
}
