/** The steps of a run with keys. */
import { constant, nat, oneof, tuple, type Arbitrary } from "fast-check";
import type { KeyOptions } from "../../../../src/features/debounce/types.ts";
import { maybe, oneOf, record, task } from "../arbitraries.ts";
import type { AskedTask, Of, Operation } from "../operations.ts";
import { passage, step } from "../step.ts";
import type { World } from "../world.ts";

const key = oneOf("a", "b");

const byKey: Arbitrary<KeyOptions> = oneof(
  {
    weight: 4,
    arbitrary: record({
      debounce: record(
        {
          key,
          wait: oneOf(1, 700, 3_000, 40_000),
          maxWait: maybe(oneOf(1, 2_000, 60_000)),
          keep: oneOf("last", "first", "all", "all"),
        },
        { requiredKeys: ["key", "wait", "keep"] },
      ),
    }),
  },
  {
    weight: 3,
    arbitrary: record({
      throttle: record({
        key,
        most: oneOf(1, 1, 2),
        per: oneOf(100, 3_000, 20_000),
        excess: oneOf("drop", "delay"),
      }),
    }),
  },
  {
    weight: 4,
    arbitrary: record({
      singleton: record({
        key,
        while: oneOf("waiting", "unfinished", "unfinished"),
        then: oneOf("drop", "replace", "cancel", "cancel"),
      }),
    }),
  },
  { weight: 3, arbitrary: constant({ replace: true as const }) },
);

/** The task with the options that it may have beside those of the key; in their order, so that it is compared as before. */
function fitting(drawn: AskedTask, by: KeyOptions, id: string | undefined): AskedTask {
  const { debounce, throttle, replace } = by;
  const isOut: Partial<Record<keyof AskedTask, boolean>> = {
    id: true,
    dedup: true,
    again: !replace,
    unique: id === undefined,
    delay: debounce !== undefined,
    at: debounce !== undefined || throttle?.excess === "delay",
  };
  const isIn = ([name]: [string, unknown]) => !isOut[name as keyof AskedTask];
  const task = Object.fromEntries(Object.entries(drawn).filter(isIn)) as unknown as AskedTask;
  const isBytes = debounce?.keep === "all" && task.payload instanceof Uint8Array;
  return { ...(id !== undefined && { id }), ...task, ...(isBytes && { payload: "bytes" }) };
}

/** One of the tasks that wait, or any that is known. */
function knownId({ queue }: World, n: number): string | undefined {
  const all = [...queue.tasks.values()];
  const waiting = all.filter(({ state }) => state === "pending" || state === "delayed");
  const some = waiting.length > 0 && n % 4 > 0 ? waiting : all;
  return some[(n >> 2) % Math.max(1, some.length)]?.id;
}

/** A list that cannot go on with what waits under the key: this starts, and another list begins. */
const throughStartedList = (weight: number, waker: boolean) =>
  passage(weight, tuple(key, oneOf(1, 3_000)), ([name, wait]): Operation[] => {
    const debounce = { key: name, wait };
    return [
      { does: "forgetKey", name },
      { does: "enqueueKeyed", task: { payload: new Uint8Array([1]) }, by: { debounce }, waker },
      { does: "enqueueKeyed", task: { payload: 2 }, by: { debounce: { ...debounce, keep: "all" } }, waker },
    ];
  });

/** @param grouped as `task` takes it */
export function keyedSteps(weight: number, grouped: Parameters<typeof task>[0], waker: boolean) {
  const drawnTask = task(grouped);
  const call = tuple(
    byKey,
    drawnTask,
    oneOf("own", "known", "none", "none", "none"),
    nat(255),
    maybe(constant(true)),
  );
  return [
    throughStartedList(Math.ceil(weight / 16), waker),
    step(weight, call, ([by, drawn, named, n, hasKey], world): Of<"enqueueKeyed"> => {
      const own = named === "own" ? drawn.id : named === "known" ? knownId(world, n) : undefined;
      const id =
        own ?? (by.replace ? ((n % 2 === 0 ? knownId(world, n) : undefined) ?? drawn.id) : undefined);
      return {
        does: "enqueueKeyed",
        ...(hasKey && { key: world.newKey() }),
        task: fitting(drawn, by, id),
        by,
        waker,
      };
    }),
    // Under the idempotency key of another enqueue: with another payload, another key, or by a plain call.
    step(Math.ceil(weight / 12), tuple(nat(), nat(2), byKey), ([back, way, by], { calls }) => {
      const before = calls.filter(
        (one) =>
          (one.does === "enqueueKeyed" && one.key !== undefined) ||
          (one.does === "enqueue" && one.tasks.length === 1),
      );
      const one = before.at(-1 - (back % Math.max(1, Math.min(before.length, 4))));
      if (one?.does === "enqueue") {
        const [only] = one.tasks;
        if (!only || by.replace) return undefined;
        return { does: "enqueueKeyed", key: one.key, task: fitting(only, by, only.id), by, waker };
      }
      if (one?.does !== "enqueueKeyed" || one.key === undefined) return undefined;
      if (way === 0) return { ...one, task: { ...one.task, payload: "another" } };
      if (way === 1) return { does: "enqueue", key: one.key, tasks: [one.task], waker };
      if (by.replace && one.task.id === undefined) return undefined;
      return { ...one, task: fitting(one.task, by, one.task.id), by };
    }),
    step(Math.ceil(weight / 16), tuple(key, maybe(constant(true))), ([name, hasKey], world) => ({
      does: "forgetKey",
      ...(hasKey && { key: world.newKey() }),
      name,
    })),
  ];
}
