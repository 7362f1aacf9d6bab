import { createHash } from "node:crypto";
import * as v from "valibot";
import type { RestRequest } from "./request.ts";
import type { Command } from "./run.ts";

const positive = v.pipe(v.number(), v.integer(), v.minValue(1));

const match = v.optional(
  v.strictObject({
    /** Only requests with this command; the case does not matter. */
    command: v.optional(v.string()),
    /** Only requests that run or load this script: its SHA-1, or its name in `scriptNames`. */
    script: v.optional(v.string()),
    /** The first of the matching requests to be hit. @default 1 */
    nth: v.optional(positive, 1),
    /** How many matching requests to hit from there on; `"always"` for all. @default 1 */
    times: v.optional(v.union([positive, v.literal("always")]), 1),
  }),
  {},
);

const faultSchema = v.variant("kind", [
  /** Nothing runs; the connection breaks. */
  v.strictObject({ kind: v.literal("cut"), match }),
  /** All commands run; the connection breaks before a byte of the reply. */
  v.strictObject({ kind: v.literal("lose-reply"), match }),
  /** All commands run; the connection breaks in the middle of the body, or of a stream's first event. */
  v.strictObject({ kind: v.literal("cut-body"), match }),
  /** Everything runs after a delay of `ms`. */
  v.strictObject({ kind: v.literal("delay"), ms: v.pipe(v.number(), v.minValue(0)), match }),
  /** The matching script commands do not run and get NOSCRIPT; the others of the request run. */
  v.strictObject({ kind: v.literal("noscript"), match }),
  /** Everything runs. Right before each matching script command, Redis forgets all scripts. */
  v.strictObject({ kind: v.literal("flush-scripts"), match }),
  /** Nothing runs; every command gets the error of a used-up quota. */
  v.strictObject({ kind: v.literal("quota"), match }),
  /** Nothing runs; with `runs`, everything. The response has this status and body. */
  v.strictObject({
    kind: v.literal("http"),
    runs: v.optional(v.boolean(), false),
    status: v.pipe(v.number(), v.integer(), v.minValue(200), v.maxValue(599)),
    body: v.optional(v.string(), '{"error":"ERR injected fault"}'),
    contentType: v.optional(v.string(), "application/json"),
    match,
  }),
  /** The request runs twice, one after the other. The response is the first or the second one. */
  v.strictObject({
    kind: v.literal("duplicate"),
    answer: v.optional(v.picklist(["first", "second"]), "first"),
    match,
  }),
  /** Nothing runs and the connection breaks; the request is kept and runs at `release`. */
  v.strictObject({ kind: v.literal("hold"), match }),
  /**
   * The connection stays open without a response until `release`. The request runs then; with `runs`, at
   * once.
   */
  v.strictObject({ kind: v.literal("stall"), runs: v.optional(v.boolean(), false), match }),
]);

/** A fault: what to do, and to which requests. */
export type Fault = v.InferInput<typeof faultSchema>;
export type ActiveFault = v.InferOutput<typeof faultSchema>;

/** An added fault. */
export interface FaultHandle {
  readonly id: number;
  /** Matching requests so far. */
  readonly matched: number;
  /** Requests hit so far. */
  readonly hits: number;
  /** Requests that are held, or whose response is held. */
  readonly held: number;
  /** Runs or responds to the held requests in the order of their arrival. Resolves when all have run. */
  release(): Promise<void>;
  /** Removes the fault. Held requests stay held. */
  remove(): void;
}

/** A fault that hits the current request. */
export interface Hit {
  readonly fault: ActiveFault;
  /** The commands of the request that match. */
  readonly matching: ReadonlySet<Command>;
  hold(run: () => Promise<unknown>): void;
}

/** The added faults. The first one that matches a request hits it. */
export class Faults {
  readonly #faults = new Map<number, ArmedFault>();
  readonly #scriptNames: ReadonlyMap<string, string>;
  #lastId = 0;

  /** @param scriptNames names of scripts, by SHA-1 */
  constructor(scriptNames: Readonly<Record<string, string>> = {}) {
    this.#scriptNames = new Map(Object.entries(scriptNames));
  }

  /** @throws {TypeError} for an invalid fault; the message says what is allowed */
  add(fault: Fault): FaultHandle {
    const parsed = v.safeParse(faultSchema, fault);
    if (!parsed.success) {
      const [issue] = parsed.issues;
      throw new TypeError(`${v.getDotPath(issue) ?? "fault"}: ${issue.message}`);
    }
    const id = ++this.#lastId;
    const armed = new ArmedFault(id, parsed.output, () => this.#faults.delete(id));
    this.#faults.set(id, armed);
    return armed;
  }

  find(id: number): FaultHandle | undefined {
    return this.#faults.get(id);
  }

  list(): readonly (FaultHandle & { readonly fault: ActiveFault })[] {
    return [...this.#faults.values()];
  }

  /** Removes all faults. Held requests are dropped. */
  clear(): void {
    this.#faults.clear();
  }

  /** The fault that hits this request, if any. Later faults do not count the request. */
  take({ commands }: RestRequest): Hit | undefined {
    for (const armed of this.#faults.values()) {
      const matching = new Set(commands.filter((command) => this.#matches(command, armed.fault.match)));
      if (matching.size > 0 && armed.strike()) {
        return { fault: armed.fault, matching, hold: (run) => armed.keep(run) };
      }
    }
    return undefined;
  }

  #matches(command: Command, { command: name, script }: ActiveFault["match"]): boolean {
    if (name !== undefined && String(command[0]).toUpperCase() !== name.toUpperCase()) return false;
    if (script === undefined) return true;
    const sha = scriptSha(command);
    return sha !== undefined && (sha === script.toLowerCase() || this.#scriptNames.get(sha) === script);
  }
}

class ArmedFault implements FaultHandle {
  readonly id: number;
  readonly fault: ActiveFault;
  readonly remove: () => void;
  matched = 0;
  hits = 0;
  #held: (() => Promise<unknown>)[] = [];

  constructor(id: number, fault: ActiveFault, remove: () => void) {
    this.id = id;
    this.fault = fault;
    this.remove = remove;
  }

  get held(): number {
    return this.#held.length;
  }

  strike(): boolean {
    const { nth, times } = this.fault.match;
    this.matched += 1;
    const hit = this.matched >= nth && (times === "always" || this.matched < nth + times);
    if (hit) this.hits += 1;
    return hit;
  }

  keep(run: () => Promise<unknown>): void {
    this.#held.push(run);
  }

  async release(): Promise<void> {
    const held = this.#held;
    this.#held = [];
    for (const run of held) await run();
  }
}

/** The SHA-1 of the script that a command runs or loads; `undefined` if it does neither. */
export function scriptSha(command: Command): string | undefined {
  const [name, first, second] = command.map(String) as [string, string?, string?];
  if (/^evalsha(_ro)?$/i.test(name)) return first?.toLowerCase();
  if (/^eval(_ro)?$/i.test(name)) return sha1(first ?? "");
  if (/^script$/i.test(name) && /^load$/i.test(first ?? "")) return sha1(second ?? "");
  return undefined;
}

const sha1 = (text: string): string => createHash("sha1").update(text).digest("hex");
