/** Calls on a queue whose groups are in strict order. */
import { linked } from "../../../src/features/linked/index.ts";
import { deepSweep, Operator, Queue, sweep, type Transport } from "../../../src/index.ts";
import {
  holdLinesScript,
  listLinesScript,
  moveSlotsScript,
} from "../../../src/kernel/linked/hold-scripts.ts";
import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { callOf } from "../../../src/kernel/scripts/binding.ts";
import { lastReply } from "../../../src/kernel/scripts/replies.ts";
import { seen } from "../../support/day.ts";
import type { Operation } from "./operation.ts";
import type { Caller } from "./starting-point.ts";

/** The queue in order. It is in no registry, so that no call on all queues visits it. */
export const LEDGER = "ledger";
const BEGIN = 1_700_000_000_000;
const now = (): number => BEGIN + 240_000;

/**
 * Groups with lines: the heads of `a` and `b` work, that of `c` is delayed, `d` is stopped, and the lease of `e`'s head
 * has expired. That of `h` is held.
 * @returns the working tasks of `a` and `b`
 */
export async function fillLedger(transport: Transport) {
  const link = linked(transport);
  const ledger = new Queue(LEDGER, { transport: link, now: () => BEGIN });
  const operator = new Operator(LEDGER, { transport: link, now: () => BEGIN });
  await operator.configure({ order: "strict", onDead: "stop" });
  const ids = ["a", "b", "c", "d", "e"].flatMap((group) =>
    [1, 2, 3].map((i) => ({ id: `${group}${i}`, group })),
  );
  await ledger.enqueueMany(ids.map((one, i) => ({ payload: i, ...one })));
  const [a, b, c, d] = await ledger.dequeue({ max: 4, lease: "1h" });
  if (!a || !b || !c || !d) throw new Error("fewer than four heads");
  await ledger.dequeue({ lease: "1s" });
  await c.requeue({ delay: "1s" });
  await d.reject("no");
  await holding({ transport: link }, [{ group: "h", was: "", hold: "3,v1" }]);
  await ledger.enqueue(1, { id: "h1", group: "h" });
  await link.send([["ZREM", "sluice:queues", LEDGER]]);
  return [a, b];
}

const book = ({ transport }: Caller, wake?: Caller["wake"]) =>
  new Queue(LEDGER, { transport: linked(transport), now, ...(wake && { wake }) });
const operate = ({ transport, wake }: Caller) => new Operator(LEDGER, { transport, now, wake });
const receiptsOf = ({ receipts }: Caller) => [receipts[5] ?? "", receipts[6] ?? ""] as const;

const settling = (by: Caller) => {
  const [a, b] = receiptsOf(by);
  return [
    { receipt: a, outcome: "complete" },
    { receipt: b, outcome: "reject", error: "no" },
  ] as const;
};

type Hold = { readonly group: string; readonly was: string; readonly hold: string };

const holding = async ({ transport }: Pick<Caller, "transport">, items: readonly Hold[], version = "") => {
  const args = { testNow: String(now()), version, step: "checked", wake: "60000" };
  const call = callOf(holdLinesScript, queueKeys(LEDGER), args, items);
  return holdLinesScript.decode(lastReply(await transport.send([call])));
};

export const ofOrder: readonly Operation[] = [
  { script: "skip", call: async (by) => [await operate(by).skip("d1"), by.woken] },
  { script: "skip", what: "of a dead letter that is unknown", call: (by) => operate(by).skip("d2") },
  {
    script: "holdLines",
    what: "of a group that works",
    call: (by) => holding(by, [{ group: "a", was: "", hold: "3,v1" }]),
  },
  {
    script: "holdLines",
    what: "of a group that goes on",
    call: (by) => holding(by, [{ group: "h", was: "3,v1", hold: "" }]),
  },
  {
    script: "holdLines",
    what: "of a later map",
    call: (by) => holding(by, [{ group: "a", was: "", hold: "3,v1" }], "2"),
  },
  {
    script: "moveSlots",
    async call({ transport }) {
      const args = { version: "1", owned: "f".repeat(64) };
      const call = callOf(moveSlotsScript, queueKeys(LEDGER), args);
      return moveSlotsScript.decode(lastReply(await transport.send([call]))).status;
    },
  },
  {
    script: "listLines",
    async call({ transport }) {
      const call = callOf(listLinesScript, queueKeys(LEDGER), { cursor: "0", size: "1000" });
      return listLinesScript.decode(lastReply(await transport.send([call]))).groups.toSorted();
    },
  },
  { script: "listStopped", call: (by) => operate(by).stoppedGroups() },
  {
    script: "enqueue",
    what: "of tasks in line",
    call: (by) =>
      book(by).enqueueMany(
        ["a4", "f1", "f2"].map((id) => ({ payload: 1, id, group: id.charAt(0) })),
        { idempotencyKey: "k" },
      ),
  },
  {
    script: "dequeue",
    what: "of heads that are due or lapsed",
    call: async (by) => seen(await book(by).dequeue({ max: 5, idempotencyKey: "k" })),
  },
  { script: "settle", what: "of heads", call: (by) => book(by).settle(settling(by)) },
  {
    script: "settle",
    what: "of heads that keep their places",
    call: (by) =>
      book(by).settle([
        { receipt: receiptsOf(by)[0], outcome: "requeue", delay: "1m" },
        { receipt: receiptsOf(by)[1], outcome: "requeue", unstarted: true },
      ]),
  },
  {
    script: "settleAndDequeue",
    what: "of heads",
    async call(by) {
      const options = { max: 3, idempotencyKey: "k" };
      const { settled, tasks } = await book(by).settleAndDequeue(settling(by), options);
      return [settled, seen(tasks)];
    },
  },
  { script: "cancel", what: "of a head", call: (by) => book(by).cancel("c1") },
  { script: "cancel", what: "of a task in line", call: (by) => book(by).cancel("a2") },
  {
    script: "sweep",
    what: "of lines",
    async call(by) {
      await by.transport.send([["ZADD", "sluice:queues", "0", LEDGER]]);
      return sweep(linked(by.transport), { queues: (name) => name === LEDGER, now });
    },
    again: (report: object) => ({ ...report, promoted: 0, reclaimed: 0 }),
  },
  {
    script: "redrive",
    what: "of a dead letter that stops its group",
    call: (by) => operate(by).redrive({ ids: ["d1"] }),
  },
  {
    script: "remove",
    what: "of a dead letter that stops its group",
    call: (by) => operate(by).remove("d1"),
  },
  {
    script: "recountGroups",
    what: "of lines",
    async call({ transport }) {
      // A wrong count, and a head that is in line.
      const wrong = ["~o:a", "1;7;0;2;;a1", "~o:b", "1;2;0;2;;b3"];
      await transport.send([["HSET", `sluice:{${LEDGER}}:tasks`, ...wrong]]);
      return deepSweep(transport, { now, queue: LEDGER });
    },
    again: (report: object) => ({ ...report, faults: [] }),
  },
];
