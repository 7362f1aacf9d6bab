import type { Bytes } from "../bytes.ts";
import { doubleOf } from "../numbers.ts";
import { ReplyError } from "../reply.ts";
import type { Scored, SortedSet } from "../values/sorted-set.ts";
import { span } from "./span.ts";

/** A range of places in a sorted set: from the first one up to the second, without it. */
export type Places = readonly [begin: number, end: number];

/** By rank, both ends included; a negative one counts from the end. */
export function placesByRank(set: SortedSet, first: number, last: number, reverse: boolean): Places {
  const [begin, end] = span(first, last, set.size);
  return reverse ? [set.size - end, set.size - begin] : [begin, end];
}

/**
 * Reads a range of scores. An end with `(` in front is excluded.
 * @throws {ReplyError} if an end is not a number
 */
export function scoreRange(least: Bytes, most: Bytes): (set: SortedSet) => Places {
  const [min, max] = [readScore(least), readScore(most)];
  const isFrom = ({ score }: Scored) => (min.isExcluded ? score > min.value : score >= min.value);
  const isBeyond = ({ score }: Scored) => (max.isExcluded ? score >= max.value : score > max.value);
  return (set) => ordered(set.countBefore(isFrom), set.countBefore(isBeyond));
}

function readScore(text: Bytes): { value: number; isExcluded: boolean } {
  const isExcluded = text.startsWith("(");
  // As strtod does: leading space counts for nothing, a NUL ends the text, and no text is 0.
  const [number = ""] = (isExcluded ? text.slice(1) : text).replace(/^[ \t\n\v\f\r]+/, "").split("\0", 1);
  const value = number === "" ? 0 : doubleOf(number);
  if (value === undefined) throw new ReplyError("ERR min or max is not a float");
  return { value, isExcluded };
}

/**
 * Reads a range of members of one score: `[member`, `(member` without it, `-` and `+` for the ends.
 * @throws {ReplyError} if an end has none of these forms
 */
export function memberRange(least: Bytes, most: Bytes): (set: SortedSet) => Places {
  const [min, max] = [readMember(least), readMember(most)];
  if (least === "+" || most === "-") return () => [0, 0];
  const isFrom = ({ member }: Scored) =>
    least === "-" || (min.isExcluded ? member > min.value : member >= min.value);
  const isBeyond = ({ member }: Scored) =>
    most !== "+" && (max.isExcluded ? member >= max.value : member > max.value);
  return (set) => ordered(set.countBefore(isFrom), set.countBefore(isBeyond));
}

function readMember(text: Bytes): { value: Bytes; isExcluded: boolean } {
  if (text !== "-" && text !== "+" && !/^[[(]/.test(text)) {
    throw new ReplyError("ERR min or max not valid string range item");
  }
  return { value: text.slice(1), isExcluded: text.startsWith("(") };
}

const ordered = (begin: number, end: number): Places => [begin, Math.max(begin, end)];
