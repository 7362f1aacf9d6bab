import { openSync, readdirSync, readFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { FlowEntry } from "./flows-evidence.ts";

/** The fault that runs a request a second time after the response, which is of the first run. */
export const RUN_AGAIN = "run again after its response";

/** How often the gateway writes down the faults that have hit a request, ms. */
export const FAULTS_EVERY = 50;

/**
 * What a process writes down: each request before it is sent, and each answer before the process acts on it.
 * So a kill can hide an answer, but nothing that was done: in doubt a ledger says more than was done, never
 * less.
 */
export type Entry = Readonly<
  /** Of each task, a mark of its own. */
  | { what: "enqueue"; call: number; queue: string; marks: readonly string[] }
  | { what: "enqueued"; call: number; ids: readonly string[]; created: readonly boolean[] }
  | { what: "cancel"; queue: string; id: string }
  | FlowEntry
  | Ask
  /** Of each settlement, the task's new state, or `!` and the code of the refusal; of each delivered task its receipt. */
  | { what: "answer"; call: number; settled: readonly string[]; receipts: readonly string[] }
  /** A call that got no answer: what it asked for may have been done. */
  | { what: "failed"; call: number; code: string }
  /** The consumer worked past its lease, on purpose. */
  | { what: "overslept"; receipt: string }
  /** The process got no time for so many ms, up to now. */
  | { what: "late"; ms: number }
  /** The receiver took a delivery. */
  | { what: "received"; id: string; mark: string }
  /** The gateway did this to a request. */
  | { what: "fault"; kind: string }
  /** Something that must not happen. */
  | { what: "broken"; error: string }
  | Fate
>;

/** A consumer settles, pulls, or does both. */
interface Ask {
  what: "ask";
  call: number;
  queue: string;
  settle: readonly (readonly [receipt: string, outcome: string])[];
  pull: boolean;
  /** Whether the pull is to wait for tasks: then a long call is no sign of trouble. */
  wait: boolean;
  /** Whether it pulls what it enqueues. */
  handOver?: boolean;
}

/** What the director did to a process, or saw of it. */
interface Fate {
  what: "started" | "ready" | "killed" | "paused" | "resumed" | "ended";
  process: string;
  through?: "gateway" | "server" | undefined;
}

/**
 * An entry, when it was written (epoch ms) and by which process, such as `drain-1.3`: the third of that role.
 */
export type Written = Entry & { readonly at: number; readonly by: string };

/**
 * The ledger of one process: a file of JSON lines. What `write` has taken outlives the process. It is not
 * forced to the disk, because the machine itself does not go down.
 */
export class Ledger {
  readonly #file: number;
  #calls = 0;

  constructor(folder: string, process: string) {
    this.#file = openSync(join(folder, `${process}.jsonl`), "a");
  }

  /** A number for the next call. */
  nextCall(): number {
    return ++this.#calls;
  }

  write(entry: Entry): void {
    writeSync(this.#file, `${JSON.stringify({ at: Date.now(), ...entry })}\n`);
  }
}

/** All that was written, in the order of time. */
export function readLedgers(folder: string): Written[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".jsonl"));
  const lines = names.flatMap((name) => {
    const by = name.replace(/\.jsonl$/, "");
    const whole = readFileSync(join(folder, name), "utf8").split("\n").slice(0, -1);
    return whole.map((line) => ({ ...(JSON.parse(line) as Entry & { at: number }), by }));
  });
  return lines.toSorted((one, other) => one.at - other.at);
}
