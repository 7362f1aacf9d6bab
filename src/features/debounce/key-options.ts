/** The options of an enqueue with a key, checked, and as its script takes them. */
import { invalidArgument } from "../../errors.ts";
import { milliseconds } from "../../kernel/options/duration.ts";
import type { EnqueueOptions } from "../../kernel/options/types.ts";
import { onlyOptions, taskId, trueOrFalse, wholeNumber } from "../../kernel/options/validation.ts";
import type { Debounce, KeyOptions, Singleton, Throttle } from "./types.ts";

/** The names of {@link KeyOptions}. */
export const KEY_OPTIONS = [
  "debounce",
  "throttle",
  "singleton",
  "replace",
] as const satisfies readonly (keyof KeyOptions)[];

/** What an enqueue with a key does, and the arguments of its script beside those of the task. */
export type KeyedBy = { readonly key: string } & (
  | {
      readonly does: "debounce";
      readonly args: {
        readonly key: string;
        readonly wait: string;
        readonly maxWait: string;
        readonly keep: string;
      };
    }
  | {
      readonly does: "throttle";
      readonly args: {
        readonly key: string;
        readonly most: string;
        readonly per: string;
        readonly excess: string;
      };
    }
  | {
      readonly does: "singleton";
      readonly args: { readonly key: string; readonly blocks: string; readonly action: string };
    }
  | { readonly does: "replace"; readonly args: object }
);

/**
 * What the options of an enqueue ask for beside a plain one; undefined if they have none of {@link KeyOptions}.
 * @throws {SluiceError} `invalid_argument`
 */
export function keyedBy(given: KeyOptions, task: EnqueueOptions): KeyedBy | undefined {
  const { debounce, throttle, singleton } = given;
  const replace = trueOrFalse(given.replace ?? false, "replace");
  const [first, second] = KEY_OPTIONS.filter((name) =>
    name === "replace" ? replace : given[name] !== undefined,
  );
  if (first === undefined) return undefined;
  if (second !== undefined) throw invalidArgument(second, `must not be given with ${first}`);
  if (task.dedup !== undefined) throw invalidArgument(first, "must not be given with dedup");
  if (replace) {
    if (task.id === undefined) throw invalidArgument("replace", "must be given with an id");
    return { does: "replace", key: taskId(task.id), args: {} };
  }
  if (task.again) throw invalidArgument(first, "must not be given with again");
  if (debounce !== undefined) return debounced(debounce, task);
  return throttle === undefined ? single(singleton as Singleton) : throttled(throttle, task);
}

function debounced(debounce: Debounce, task: EnqueueOptions): KeyedBy {
  onlyOptions(debounce, ["key", "wait", "maxWait", "keep"], "debounce.");
  for (const name of ["delay", "at"] as const) {
    if (task[name] !== undefined)
      throw invalidArgument(name, "must not be given with debounce: wait is its delay");
  }
  const key = taskId(debounce.key, "debounce.key");
  const wait = String(milliseconds(debounce.wait, "debounce.wait", { min: 1 }));
  const maxWait =
    debounce.maxWait === undefined
      ? ""
      : String(milliseconds(debounce.maxWait, "debounce.maxWait", { min: 1 }));
  const keep = oneOf(debounce.keep ?? "last", ["last", "first", "all"], "debounce.keep");
  return { does: "debounce", key, args: { key, wait, maxWait, keep } };
}

function throttled(throttle: Throttle, task: EnqueueOptions): KeyedBy {
  onlyOptions(throttle, ["key", "most", "per", "excess"], "throttle.");
  const key = taskId(throttle.key, "throttle.key");
  const most = String(wholeNumber(throttle.most, "throttle.most", 1, 1_000_000));
  const per = String(milliseconds(throttle.per, "throttle.per", { min: 1 }));
  const excess = oneOf(throttle.excess ?? "drop", ["drop", "delay"], "throttle.excess");
  if (excess === "delay" && task.at !== undefined) {
    throw invalidArgument("at", 'must not be given with a throttle whose excess is "delay"');
  }
  return { does: "throttle", key, args: { key, most, per, excess } };
}

function single(singleton: Singleton): KeyedBy {
  onlyOptions(singleton, ["key", "while", "then"], "singleton.");
  const key = taskId(singleton.key, "singleton.key");
  const blocks = oneOf(singleton.while, ["waiting", "unfinished"], "singleton.while");
  const action = oneOf(singleton.then ?? "drop", ["drop", "replace", "cancel"], "singleton.then");
  return { does: "singleton", key, args: { key, blocks, action } };
}

function oneOf<const T extends string>(value: T, allowed: readonly T[], path: string): T {
  if (!allowed.includes(value)) throw invalidArgument(path, `must be one of ${allowed.join(", ")}`);
  return value;
}
