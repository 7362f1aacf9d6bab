/** The model beside the real queue: the expected answer of each call, and the expected state after it. */
import { forgetPauses, RUNNING } from "./pauses.ts";
import { deepStrictEqual } from "node:assert/strict";
import type { LeasedTask } from "../../../src/index.ts";
import { violations } from "../../support/invariants.ts";
import { queueSpace } from "../../support/key-space.ts";
import { groupsAhead } from "./delivery-order.ts";
import { dequeue, slotOf, type ModelBatch, type Seen } from "./dequeue.ts";
import { type Copy, expectedOf, signOf } from "./expected.ts";
import type { ModelNewTask } from "./enqueue.ts";
import { isInLine } from "./lines.ts";
import { pullOf, type AskedTask, type Mishap, type Operation, type Pull } from "./operations.ts";
import { modelPlaces, realPlaces } from "./places.ts";
import { predicted } from "./predicted.ts";
import { usesGroups } from "./reads.ts";
import { type Happened, NAME, type Real } from "./real.ts";
import { notesMissing } from "./flows/expected.ts";
import type { Flows } from "./flows/flows.ts";
import { type ModelDeadLetter, QueueState } from "./state.ts";

/** The lease of a dequeue without one, ms. */
const DEFAULT_LEASE = 300_000;
/** How many calls of operators are remembered. */
const REMEMBERED = 16;
/** How many receipts are kept, to be used again. */
const RECEIPTS = 24;

/** Calls of several requests, of which the first only reads. */
const LOOKS_FIRST: readonly Operation["does"][] = ["putSchedule", "switchSchedule", "cancelFlow"];

/** The model of one run: its queue and its memory of calls. */
export class World {
  queue = new QueueState();
  now: number;
  /** The latest time that a call has had. */
  #latest = 0;
  woken = 0;
  /** The last receipts. */
  receipts: string[] = [];
  /** Calls that were made, so that they can be repeated. */
  readonly calls: Operation[] = [];
  #keys = 0;
  #ids = 0;
  /** Ids that were made from a key and a position in the batch. */
  readonly #made = new Map<string, string>();
  #remembered: { readonly key: string; readonly answer: unknown }[] = [];

  readonly name: string;
  /** The flows that its tasks are of, if any. */
  flows: Flows | undefined;
  /** The other queue that has tasks of these flows. */
  beside: World | undefined;
  /** How many requests a caller makes after its first one, until it dies. */
  requestsLeft = Number.POSITIVE_INFINITY;

  constructor(now: number, name: string = NAME) {
    this.now = now;
    this.name = name;
  }

  /** An id that no task of this run has had. */
  readonly newId = () => `n${++this.#ids}`;

  /** An idempotency key that no call of this run has had. */
  readonly newKey = () => `call-${++this.#keys}`;

  /** The tasks of an enqueue with their ids: those made from the key are taken from the first answer. */
  named(key: string, tasks: readonly AskedTask[], answer: unknown): ModelNewTask[] {
    const answers = Array.isArray(answer) ? (answer as readonly { readonly id: string }[]) : [];
    return tasks.map((task, i) => {
      if (task.id !== undefined) return { ...task, id: task.id };
      const first = answers[i]?.id;
      // A duplicate has the id of another task, kept or forgotten, or of an earlier one in the batch.
      const others =
        first === undefined ||
        this.queue.tasks.has(first) ||
        [...this.queue.dedup.values()].some(({ id }) => id === first) ||
        answers.findIndex(({ id }) => id === first) < i;
      return {
        ...task,
        id: this.#made.get(`${key} ${i}`) ?? (others ? `${key}#${i}` : first),
        derived: true,
      };
    });
  }

  /** Notes the ids made from a key; in a batch they rise, so that tasks due at one time keep their order. */
  learnIds(key: string, tasks: readonly ModelNewTask[]): void {
    let last = "";
    for (const [i, { id, derived }] of tasks.entries()) {
      if (!derived || !this.queue.tasks.has(id)) continue;
      if (id <= last) throw new Error(`${id} is after ${last} in a batch, but sorts before it`);
      last = id;
      this.#made.set(`${key} ${i}`, id);
    }
  }

  /** Makes one call on both sides and compares answers and places. */
  async call(real: Real, operation: Operation, by: number, mishap: Mishap): Promise<void> {
    real.now = this.now;
    if (this.beside) this.beside.now = this.now;
    const happened = await real.run(operation, by, mishap, this.name);
    forgetPauses(this.queue, this.#latest, happened.before.tasks);
    this.#latest = Math.max(this.#latest, this.now);
    const { does } = operation.does === "dying" ? operation.operation : operation;
    const looksFirst = LOOKS_FIRST.includes(does) || (operation.does === "sweep" && !operation.once);
    const twice = (mishap === "reply lost" || mishap === "delivered twice") && !looksFirst;
    const { woken } = this;
    this.queue.deadLetters = [];
    if (this.beside) this.beside.queue.deadLetters = [];
    let expected = expectedOf(this, operation, happened, twice ? "unheard" : "only");
    const held = twice ? this.#purgedFirst(operation, happened) : undefined;
    if (held !== undefined) {
      expected = { purged: (expected as { purged: number }).purged - held };
    } else if (twice) {
      this.woken = woken;
      // The answer of the first copy is lost. With groups, the model does not predict which copy reclaims.
      const unsure = usesGroups(this.queue) ? this.queue.deadLetters : [];
      this.queue.deadLetters = unsure.filter(({ reason }) => reason === "lease_expired");
      expected = expectedOf(
        this,
        operation,
        happened,
        mishap === "reply lost" ? "resent" : "delivered again",
      );
    }
    if (twice && usesGroups(this.queue)) this.#adoptAlarm(happened);
    this.#noteSpent(operation, happened);
    if (operation.does === "sweep" && operation.once) this.#checkLookAhead(happened.answer);
    deepStrictEqual(predicted(this, operation, happened.answer), expected);
    deepStrictEqual(real.woken, this.woken + (this.beside?.woken ?? 0));
    this.#compareDeadLetters(real.deadLetters, twice && usesGroups(this.queue));
    this.#compare(happened);
    if (this.beside) this.beside.#compare(happened);
    if (process.env["NOTES"] && this.flows) deepStrictEqual(notesMissing(this, happened), []);
  }

  #compare({ keys }: Happened): void {
    const space = queueSpace(keys, this.name);
    deepStrictEqual(realPlaces(space), modelPlaces(this.queue));
    deepStrictEqual(violations(space), []);
  }

  /** @param some whether the call may report fewer than the model predicts */
  #compareDeadLetters(reported: readonly ModelDeadLetter[], some: boolean): void {
    const inOrder = (letters: readonly ModelDeadLetter[]) =>
      letters.map(({ id, reason, attempts }) => `${id} ${reason} ${attempts}`).toSorted();
    const [real, model] = [inOrder(reported), inOrder(this.queue.deadLetters)];
    deepStrictEqual(real, some ? model.filter((letter) => real.includes(letter)) : model);
  }

  /**
   * With groups or priorities a purge of pending tasks takes several requests, and the first is sent twice.
   * Returns the number of tasks that the first copy purges, whose answer is lost.
   */
  #purgedFirst(operation: Operation, { before }: Happened): number | undefined {
    if (operation.does !== "purge" || operation.state !== "pending") return undefined;
    if (!before.tasks.has("~fair")) return undefined;
    const { group } = operation;
    return [...before.limited.keys()].filter(
      (id) => (group ?? this.queue.task(id).group) === this.queue.task(id).group,
    ).length;
  }

  /**
   * With groups the model does not predict which copy fails silent workers, and so whether the next of them is known
   * before or after the sign of life of the call.
   */
  #adoptAlarm({ after }: Happened): void {
    const alarm = after.delayed.get("~w");
    const silent = Array.from(this.queue.workers.values(), ({ silentAt }) => silentAt);
    if (alarm === Math.min(...silent)) this.queue.alarm = alarm;
  }

  /** With groups the model does not predict how often a pull goes on, so a token may be used up. */
  #noteSpent(operation: Operation, { before, after }: Happened): void {
    const pull = pullOf(operation);
    if (!pull || !(before.tasks.has("~fair") || after.tasks.has("~fair"))) return;
    const slot = slotOf(pull);
    const isKnown = this.queue.slots.get(slot)?.token === pull.token;
    if (!isKnown && after.tasks.get(`~${slot}`) === pull.token) {
      this.queue.slots.set(slot, { token: pull.token, ids: [] });
    }
  }

  /** The result of an operator's call, now or when an earlier copy of it ran. */
  once(key: string, make: () => unknown): unknown {
    const known = this.#remembered.find((call) => call.key === key);
    if (known) return known.answer;
    const answer = make();
    this.#remembered = [...this.#remembered, { key, answer }].slice(-REMEMBERED);
    return answer;
  }

  /** The tasks of a dequeue, with payloads and receipts. */
  pulled(
    pull: Pull,
    given: readonly LeasedTask[],
    { before, after }: Happened,
    {
      copy,
      afterSettle,
      send,
    }: {
      readonly copy: Copy;
      readonly afterSettle: boolean;
      /** Called after each request. */
      readonly send?: (() => void) | undefined;
    },
  ) {
    if (!Array.isArray(given)) throw new Error(`the pull was answered with ${JSON.stringify(given)}`);
    // A group's timer is also moved if one more of its tasks is held by a limit.
    const wasDue = (there: ReadonlyMap<string, number>, left: ReadonlyMap<string, number>) =>
      [...there].some(
        ([id, due]) => Math.floor(due) <= this.now && left.get(id) !== due && !id.startsWith("~g:"),
      );
    const brought = wasDue(before.delayed, after.delayed) || wasDue(this.queue.working, after.working);
    const { nextDueAt } = given as unknown as ModelBatch;
    const hasTime = nextDueAt !== null && (given.length === 0 || copy === "only");
    const isPlain = !pull.worker && !before.tasks.has("~set") && !before.tasks.has("~fair");
    // If it must not look, it does so nevertheless if the tasks that it finds are not plain.
    const looked = pull.readyOnly !== true || !isPlain || brought || hasTime;
    const seen: Seen = {
      looked,
      given: given.map(({ id }) => id),
      // A settle in the same request may bring groups into use, too.
      usesGroups: before.tasks.has("~fair") || after.tasks.has("~fair"),
      began: !before.tasks.has("~fair") && after.tasks.has("~fair"),
      // A settle in the same request may have let in tasks that a limit held before.
      holding: [...before.limited.keys()].some((id) => !afterSettle || after.limited.has(id)),
      moving: [...before.tasks].some(([field, text]) => field.startsWith("~g:") && /;\d=\d+,\d+,/.test(text)),
      brought,
      ahead: groupsAhead(this.queue, this.now, before.tasks),
      line: after.pending.toReversed(),
    };
    const { max, token, single, worker, lease = DEFAULT_LEASE } = pull;
    const resend = pull.flagged || copy === "resent";
    const call = { max, token, lease, single, resend, unheard: copy === "unheard", send };
    const batch = dequeue(this.queue, this.now, { ...call, worker: worker && signOf(worker) }, seen);
    const tasks = batch.tasks.map(({ id, attempt, lease: number, deadlineAt }) => {
      const { payload, headers, group, enqueuedAt, fixedLease, charged, expired } = this.queue.task(id);
      const delivery = charged < attempt || expired > 0 ? `${attempt},${charged},${expired}` : attempt;
      const receipt = `1.${delivery}.${number}.${token}.${id}`;
      this.keep(receipt);
      const leasedFor = fixedLease ?? lease;
      return { id, receipt, payload, attempt, enqueuedAt, deadlineAt, leasedFor, headers, group };
    });
    if (batch.nextDueAt === undefined && looked) this.#notTooLate(nextDueAt, new Set(seen.given));
    return {
      tasks,
      nextDueAt: batch.nextDueAt === undefined ? nextDueAt : batch.nextDueAt,
      paused: batch.paused,
    };
  }

  /** Keeps a receipt, to be used again. */
  keep(receipt: string): void {
    this.receipts = [...new Set([...this.receipts, receipt])].slice(-RECEIPTS);
  }

  /** A sweep that looks ahead must report what is due next: a task, a lease, or a timer before them. */
  #checkLookAhead(answer: unknown): void {
    const { nextDueAt } = answer as { readonly nextDueAt: number };
    const { delayed, working } = this.queue;
    const due = Math.min(...[...delayed, ...working].map(([, at]) => Math.max(Math.floor(at), this.now)));
    if (due < Number.POSITIVE_INFINITY && (nextDueAt === 0 || nextDueAt > due)) {
      throw new Error(`the sweep reported ${nextDueAt}, and at ${due} something is due`);
    }
  }

  /** A waiting consumer must get the time of the next due task. */
  #notTooLate(nextDueAt: number | null | undefined, given: ReadonlySet<string>): void {
    const { delayed, working, grouped } = this.queue;
    const leases = [...working].filter(([id]) => !given.has(id));
    const due = Math.min(...[...delayed, ...leases].map(([, at]) => Math.max(Math.floor(at), this.now)));
    if ((nextDueAt ?? Number.POSITIVE_INFINITY) > due) {
      throw new Error(`next is ${nextDueAt}, and at ${due} something is due`);
    }
    // Those of a paused group wait for an operator.
    const hasNoEnd = ({ group = "" }: { readonly group?: string | undefined }) => {
      const { paused, pausedUntil } = this.queue.groups.get(group) ?? RUNNING;
      return paused && pausedUntil === null;
    };
    const mayBegin = (id: string) =>
      !hasNoEnd(this.queue.task(id)) && !isInLine(this.queue, this.queue.task(id));
    if (nextDueAt === null && grouped.some(mayBegin)) {
      throw new Error("tasks wait, and the answer has no time to ask again");
    }
  }
}
