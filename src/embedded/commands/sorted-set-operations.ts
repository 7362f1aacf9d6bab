import type { Bytes } from "../bytes.ts";
import { Arguments, commands, counted, type Context, type Words } from "../command.ts";
import { readDouble, readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, wrongType, type Value } from "../reply.ts";
import type { Store } from "../store.ts";
import { MemberSet } from "../values/member-set.ts";
import { SortedSet } from "../values/sorted-set.ts";
import { readLimit } from "./set-operations.ts";
import { flat } from "./sorted-set-ranges.ts";

type Kind = "union" | "intersection" | "difference";
type Scores = ReadonlyMap<Bytes, number>;

/** What becomes of the result: its entries or its size are the reply, or it is stored. */
type Use = "reply" | "count" | "store";

export const sortedSetOperationCommands = commands(
  ["@sortedset"],
  [
    ["zunion", -3, "readonly movablekeys", counted(1), operation("union", "reply")],
    ["zinter", -3, "readonly movablekeys", counted(1), operation("intersection", "reply")],
    ["zdiff", -3, "readonly movablekeys", counted(1), operation("difference", "reply")],
    ["zintercard", -3, "readonly movablekeys", counted(1), operation("intersection", "count")],
    ["zunionstore", -4, "write denyoom movablekeys", counted(2, 1), operation("union", "store")],
    ["zinterstore", -4, "write denyoom movablekeys", counted(2, 1), operation("intersection", "store")],
    ["zdiffstore", -4, "write denyoom movablekeys", counted(2, 1), operation("difference", "store")],
  ],
);

function operation(kind: Kind, use: Use) {
  return ({ store }: Context, words: Words): Value => {
    const countAt = use === "store" ? 2 : 1;
    const count = readIndex(words[countAt] as Bytes);
    if (count < 1) {
      const name = (words[0] as Bytes).toLowerCase();
      throw new ReplyError(`ERR at least 1 input key is needed for '${name}' command`);
    }
    if (count > words.length - countAt - 1) throw syntaxError();
    const sources = words.slice(countAt + 1, countAt + 1 + count).map((key) => scoresOf(store, key));
    const options = readOptions(new Arguments(words, countAt + 1 + count), kind, use, count);
    const result = resultOf(kind, sources, options);
    if (use === "count") return options.limit === 0 ? result.size : Math.min(result.size, options.limit);
    const set = new SortedSet();
    for (const [member, score] of result) set.set(member, score);
    if (use === "reply") return flat(set.slice(0, set.size), options.withScores);
    const to = words[1] as Bytes;
    if (set.size === 0) store.delete(to);
    else store.set(to, set);
    return set.size;
  };
}

/** Of a sorted set, or of a set, whose members have the score 1. A missing key is empty. */
function scoresOf(store: Store, key: Bytes): Scores {
  const content = store.get(key);
  if (content === undefined) return new Map();
  if (content instanceof MemberSet) return new Map(Array.from(content.members(), (member) => [member, 1]));
  if (!(content instanceof SortedSet)) throw wrongType();
  return new Map(content.slice(0, content.size).map(({ member, score }) => [member, score]));
}

type Aggregate = (a: number, b: number) => number;

interface Options {
  readonly weights: readonly number[];
  readonly aggregate: Aggregate;
  readonly withScores: boolean;
  readonly limit: number;
}

const aggregates: Readonly<Record<string, Aggregate>> = {
  // Of the two infinities, as in Redis.
  SUM: (a, b) => numberOr0(a + b),
  MIN: (a, b) => (b < a ? b : a),
  MAX: (a, b) => (b > a ? b : a),
};

const numberOr0 = (value: number): number => (Number.isNaN(value) ? 0 : value);

function readOptions(options: Arguments, kind: Kind, use: Use, count: number): Options {
  let weights = Array.from({ length: count }, () => 1);
  let [aggregate, withScores, limit] = [aggregates["SUM"] as Aggregate, false, 0];
  const isWeighted = kind !== "difference" && use !== "count";
  while (options.left > 0) {
    const option = options.option();
    if (isWeighted && option === "WEIGHTS" && options.left >= count) {
      weights = weights.map(() => readWeight(options.next()));
    } else if (isWeighted && option === "AGGREGATE" && options.left > 0) {
      const found = aggregates[options.option()];
      if (!found) throw syntaxError();
      aggregate = found;
    } else if (use === "reply" && option === "WITHSCORES") withScores = true;
    else if (use === "count" && option === "LIMIT" && options.left > 0) limit = readLimit(options.next());
    else throw syntaxError();
  }
  return { weights, aggregate, withScores, limit };
}

function readWeight(text: Bytes): number {
  try {
    return readDouble(text);
  } catch {
    throw new ReplyError("ERR weight value is not a float");
  }
}

function resultOf(kind: Kind, sources: readonly Scores[], { weights, aggregate }: Options): Scores {
  const result = new Map<Bytes, number>();
  if (kind === "difference") {
    const [first = new Map(), ...others] = sources;
    for (const [member, score] of first) {
      if (!others.some((scores) => scores.has(member))) result.set(member, score);
    }
    return result;
  }
  // From the smallest set on, as Redis adds scores.
  const weighted = sources
    .map((scores, place) => ({ scores, weight: weights[place] as number }))
    .toSorted((a, b) => a.scores.size - b.scores.size);
  for (const { scores, weight } of kind === "union" ? weighted : weighted.slice(0, 1)) {
    for (const [member, score] of scores) {
      const old = result.get(member);
      const value = numberOr0(weight * score);
      result.set(member, old === undefined ? value : aggregate(old, value));
    }
  }
  if (kind === "union") return result;
  for (const [member, first] of result) {
    let score: number | undefined = first;
    for (const { scores, weight } of weighted.slice(1)) {
      const found = scores.get(member);
      score = found === undefined || score === undefined ? undefined : aggregate(score, weight * found);
    }
    if (score === undefined) result.delete(member);
    else result.set(member, score);
  }
  return result;
}
