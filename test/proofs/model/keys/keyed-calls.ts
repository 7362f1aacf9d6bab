/** Enqueues with a key, and calls that forget one: as calls of the library, and with what they are to answer. */
import { deepStrictEqual } from "node:assert/strict";
import { withDebounce } from "../../../../src/features/debounce/index.ts";
import { WINDOW, type Client } from "../client.ts";
import type { Of } from "../operations.ts";
import type { Happened } from "../real.ts";
import type { World } from "../world.ts";
import { enqueueKeyed, type KeyedCall } from "./enqueue-keyed.ts";
import { forgetKey } from "./key.ts";

/** The lengths of tokens: one that derives from an idempotency key of an enqueue, of another call, and a new one. */
const [DERIVED, DERIVED_NAME, NEW] = [23, 22, 16] as const;

export const KEYED_CALLS = {
  enqueueKeyed: ({ queue, waking }: Client, { task, by, key, waker }: Of<"enqueueKeyed">) => {
    const { payload, ...options } = task;
    const given = { ...options, ...by, idempotencyKey: key };
    return withDebounce(waker ? waking : queue).enqueue(payload, given);
  },
  forgetKey: ({ queue }: Client, { name, key }: Of<"forgetKey">) =>
    withDebounce(queue).forgetKey(name, { idempotencyKey: key }),
};

export const KEYED_REQUESTS = {
  enqueueKeyed: ({ task, by, key }: Of<"enqueueKeyed">) => ({
    route: "enqueue",
    key,
    body: { ...task, ...by },
  }),
  forgetKey: ({ name, key }: Of<"forgetKey">) => ({ route: "forgetKey", path: { key: name }, key }),
};

export const KEYED_EXPECTED = {
  enqueueKeyed: (world: World, { task, by, key, waker }: Of<"enqueueKeyed">, happened: Happened): unknown => {
    const { nth, answer, after } = happened;
    const producer = key ?? `new ${nth}`;
    const [named] = world.named(producer, [task], [answer]);
    if (!named) throw new Error("a call has no task");
    // An item of a list is compared as a list of one.
    const asked = by.debounce?.keep === "all" ? { ...task, payload: [task.payload] } : task;
    const call: KeyedCall = {
      producer,
      token: `${producer} ${JSON.stringify([asked])}`,
      length: key === undefined ? NEW : DERIVED,
      wake: waker ? WINDOW : undefined,
    };
    const done = enqueueKeyed(world.queue, world.now, named, by, call);
    if (typeof done === "string") return { refused: done };
    if (done.answer.created) world.learnIds(producer, [named]);
    if (done.wake) world.woken++;
    const of = world.queue.tasks.get(done.answer.id);
    const record = after.tasks.get(done.answer.id);
    if (of?.kept && record) deepStrictEqual(payloadIn(record), of.payload);
    return done.answer;
  },
  forgetKey: ({ queue, now }: World, { name, key }: Of<"forgetKey">, { nth }: Happened) =>
    forgetKey(queue, now, name, `forget ${key ?? nth}`, key === undefined ? NEW : DERIVED_NAME),
};

/** The payload in a fixed record. */
function payloadIn(record: string): unknown {
  const line = record.slice(0, record.indexOf("\n"));
  const headers = Number(/;h=(\d+)/.exec(line)?.[1] ?? 0);
  const payload = record.slice(line.length + 1 + headers);
  const rest = payload.slice(1);
  return payload.startsWith("b") ? Uint8Array.from(Buffer.from(rest, "base64")) : JSON.parse(rest);
}
