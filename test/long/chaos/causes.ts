import { type Call, type Delivery, type Evidence, leaseOf, type Life, type Span } from "./evidence.ts";
import { FAULTS_EVERY, RUN_AGAIN } from "./ledger.ts";
import { type Lease, type TaskHistory, taskKey } from "./history.ts";
import { LEASE } from "./work.ts";

/** How long the gateway may hold a request whose sender is dead or has given up, ms, while it is not paused. */
const HELD = 4_000;
/** Longer than an undisturbed call takes, ms: of three extends a lease can miss two. */
const SLOW = 300;

const meet = (one: Span, other: Span) => one.from <= other.until && other.from <= one.until;
const length = ({ from, until }: Span) => until - from;

/** Returns why a task was delivered again, from what the ledgers say of each lease before the last. */
export class Causes {
  readonly #evidence: Evidence;
  readonly #deliveries: ReadonlyMap<string, Delivery>;
  readonly #calls = new Map<string, Call[]>();
  readonly #pulls = new Map<string, Call[]>();
  readonly #ways: Record<"redis" | "gateway" | "server", Life[]>;

  constructor(evidence: Evidence) {
    this.#evidence = evidence;
    this.#deliveries = new Map(evidence.deliveries.map((one) => [`${one.key} ${one.lease}`, one]));
    for (const call of evidence.calls) {
      push(this.#calls, call.by, call);
      if (call.pull) push(this.#pulls, call.queue, call);
    }
    this.#ways = {
      redis: evidence.livesOf("redis"),
      gateway: evidence.livesOf("gateway"),
      server: evidence.livesOf("server"),
    };
  }

  /** @returns undefined if nothing explains why that lease did not end the task */
  of(task: TaskHistory, lease: Lease): string | undefined {
    const { end } = lease;
    if (typeof end === "object")
      return end.outcome === "unstarted" ? "handed back unstarted" : "requeued by its holder";
    const key = taskKey(task.queue, task.id);
    const delivery = this.#deliveries.get(`${key} ${lease.number}`);
    return delivery ? this.#whyNotSettled(task, lease, delivery) : this.#whyUnheard(task, lease);
  }

  #whyNotSettled({ id }: TaskHistory, lease: Lease, { by, token }: Delivery): string | undefined {
    const holder = this.#evidence.life(by);
    if (this.#evidence.overslept.has(leaseOf({ id, lease: lease.number, token })))
      return "worked on past its lease";
    if (holder.until <= lease.until) return "its holder was killed";
    if (holder.pauses.some((pause) => meet(pause, lease))) return "its holder was paused";
    const way = this.#trouble(lease, holder.through);
    if (way !== undefined) return way;
    const slow = (call: Call) => call.failed || (!call.wait && length(call) > SLOW);
    if (this.#calls.get(by)?.some((call) => meet(call, lease) && slow(call)))
      return "its holder's requests were lost or late";
    if (holder.stalls.some((stall) => meet(stall, lease))) return "the machine was busy";
    return undefined;
  }

  /** Why no process wrote that it received this lease. */
  #whyUnheard({ queue }: TaskHistory, lease: Lease): string | undefined {
    if (lease.lateCopy) return "leased by a late copy of a dequeue";
    const { from } = lease;
    // A request that was given up may have run after that.
    const isOpen = (call: Call) =>
      call.from <= from && (call.until >= from || (call.failed && this.#isHeld(call.until, from)));
    const pulls = this.#pulls.get(queue)?.filter(isOpen) ?? [];
    const open = pulls.map((call) => ({ call, life: this.#evidence.life(call.by) }));
    // It ended before it was answered, or could write the answer down; what it had sent may have run after
    // that.
    if (open.some(({ call, life }) => call.until === Infinity && this.#isHeld(life.until, from)))
      return "its holder was killed while it pulled";
    if (open.some(({ life }) => life.pauses.some((pause) => meet(pause, lease))))
      return "its holder was paused while it pulled";
    const way = this.#trouble(lease, "server");
    if (way !== undefined) return way;
    if (open.some(({ call }) => call.failed)) return "the pull got no answer";
    if (open.some(({ call }) => !call.wait && length(call) > LEASE)) return "the pull's answer was late";
    const noted = { from, until: from + FAULTS_EVERY + SLOW };
    const ranAgain = ({ at, kind }: Evidence["faults"][number]) =>
      kind === RUN_AGAIN && meet(noted, { from: at, until: at });
    if (open.length > 0 && this.#evidence.faults.some(ranAgain))
      return "leased by the second run of a pull that had found nothing";
    return undefined;
  }

  /** Whether the gateway may run a request at a time whose sender has waited for it until another. */
  #isHeld(waited: number, at: number): boolean {
    const pauses = this.#ways.gateway.flatMap((life) => life.pauses);
    const paused = pauses.map(({ from, until }) => Math.min(until, at) - Math.max(from, waited));
    return at - waited - paused.reduce((sum, each) => sum + Math.max(0, each), 0) <= HELD;
  }

  /** What kept a process from Redis while it had the lease. */
  #trouble(lease: Lease, through: Life["through"]): string | undefined {
    for (const way of ["redis", "gateway", "server"] as const) {
      if (way === "server" && through !== "server") continue;
      const lives = this.#ways[way];
      const down = lives
        .slice(1)
        .some(({ from }, i) => meet({ from: lives[i]?.until ?? 0, until: from }, lease));
      if (down) return `${way} was down`;
      const idle = lives.flatMap(({ pauses, stalls }) => [...pauses, ...stalls]);
      if (idle.some((span) => length(span) > SLOW && meet(span, lease))) return `${way} was paused`;
    }
    return undefined;
  }
}

function push<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
}
