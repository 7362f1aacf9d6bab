/** Runs the table of operations over HTTP, with and without faults, and returns the outcome of each. */
import { afterAll, afterEach, beforeAll, vi } from "vitest";
import { startGateway, type Fault, type FaultHandle, type Gateway } from "../../../src/local/index.ts";
import { keyLocking } from "../../../src/kernel/transport.ts";
import { linkedScripts } from "../../../src/lua/linked.gen.ts";
import { upstash, type UpstashOptions } from "../../../src/transports/upstash.ts";
import { scripts } from "../../support/bindings.ts";
import { violations } from "../../support/invariants.ts";
import { queueSpace, withoutSlots, type KeySpace } from "../../support/key-space.ts";
import { inOwnTime } from "../../support/own-time.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import type { Operation } from "./operation.ts";
import { operations } from "./operations.ts";
import { LEDGER } from "./order-operations.ts";
import { startingPoint, type Caller } from "./starting-point.ts";

/** The longest time of a request, ms: less than the budget of a call, which takes several. */
const TRY = 5_000;

/** The operations, each by a unique name. */
export const titled = operations.map((operation) => {
  const { script, what } = operation;
  return [what === undefined ? script : `${script} ${what}`, operation] as const;
});

/** Registers the set-up of the operations with vitest. */
export function useOperations() {
  // The invariants are part of each outcome.
  const rig = useRig({ checkInvariants: false });
  let gateway: Gateway;
  let start: Awaited<ReturnType<typeof startingPoint>>;
  const over = (retry: UpstashOptions["retry"] = {}) =>
    upstash(
      { url: gateway.url, token: gateway.token },
      { retry: { firstWait: 0, longestWait: 0, tryTimeout: TRY, ...retry } },
    );

  beforeAll(async () => {
    const editions = await Promise.all(Object.values(linkedScripts).map((load) => load()));
    const all = [...scripts, ...editions];
    const names = all.map(({ name, keyLockingSha1 }) => [keyLockingSha1, name]);
    gateway = await startGateway({ redisUrl: rig.redis.url, scriptNames: Object.fromEntries(names) });
    await over().send(all.map(({ source }) => ["SCRIPT", "LOAD", keyLocking + source]));
  });
  afterEach(() => {
    gateway.faults.clear();
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  afterAll(async () => {
    start.close();
    await gateway.close();
  });

  /** Puts the queue into the state in which every operation begins. */
  async function begin({ damaged }: Operation, transport = over()): Promise<Caller> {
    start ??= await startingPoint(rig);
    return start.begin(transport, damaged === true);
  }

  /** The keys in Redis, and the invariants that they violate. */
  async function finalState() {
    const keys = await rig.keySpace();
    const found = [QUEUE, LEDGER].flatMap((queue) => violations(queueSpace(keys, queue)));
    return { keys: comparable(keys, rig.now), violations: found };
  }

  /**
   * Makes a call, with a fault. Returns everything that resulted.
   * @param isEvery whether the fault is of every request, and not only of the one that holds the operation's script
   */
  async function outcome(operation: Operation, fault?: Fault, isEvery = false) {
    const { script, nth = 1, call, afterwards } = operation;
    const by = await begin(operation);
    const match = isEvery ? { times: "always" as const } : { script, nth };
    const hit = fault && gateway.faults.add({ ...fault, match });
    const answer = await (fault?.kind === "stall" ? inOwnTime(() => call(by), passing(hit!)) : call(by));
    await hit?.release();
    await afterwards?.(by);
    return { answer, hits: hit?.hits ?? 1, ...(await finalState()) };
  }

  const twins = new Map<Operation, ReturnType<typeof outcome>>();
  /** The outcome of a call without a fault, with all its scripts known. */
  function twin(operation: Operation) {
    const known = twins.get(operation) ?? outcome(operation);
    twins.set(operation, known);
    return known;
  }

  /**
   * Makes a call that gets no answer before its deadline, runs all its requests, and makes the call again.
   * @returns the first call's error, and the outcome of the second
   */
  async function overdue(operation: Operation, fault: Fault) {
    const { script, nth = 1, call, afterwards } = operation;
    const by = await begin(operation, over({ deadline: TRY }));
    const hit = gateway.faults.add({ ...fault, match: { script, nth, times: "always" } });
    const error = await inOwnTime(() => call(by), passing(hit)).catch((thrown: unknown) => thrown);
    hit.remove();
    await hit.release();
    const later = by.again(over());
    const answer = await call(later);
    await afterwards?.(later);
    return { error, answer, ...(await finalState()) };
  }

  return { outcome, twin, overdue };
}

/** Lets each held request take as long as one may. */
function passing(hit: FaultHandle): () => number {
  let held = 0;
  return () => {
    const isNew = hit.held > held;
    held = hit.held;
    return isNew ? TRY : 0;
  };
}

/**
 * Without the mark of a resent dequeue, and without how overdue a reminder is: each copy makes it earlier.
 */
function comparable(keys: KeySpace, now: number): KeySpace {
  const registry = keys["sluice:queues"];
  if (!registry || !("zset" in registry)) return withoutSlots(keys);
  const zset = registry.zset.map(([member, score]): [string, number] =>
    member.startsWith("~") && score <= now ? [member, now] : [member, score],
  );
  return { ...withoutSlots(keys), "sluice:queues": { zset } };
}
