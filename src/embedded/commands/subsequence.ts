import type { Bytes } from "../bytes.ts";
import { Arguments, commands, type Context, type Words } from "../command.ts";
import { readIndex } from "../numbers.ts";
import { ReplyError, syntaxError, type Value } from "../reply.ts";

/** Most memory of the table of lengths, bytes, as in Redis by default. */
const MOST = 512 * 1024 * 1024;

/** LCS: the longest common subsequence of two strings. */
export const subsequenceCommands = commands(
  ["@string"],
  [["lcs", -3, "readonly", { first: 1, last: 2, step: 1 }, longestCommonSubsequence]],
);

function longestCommonSubsequence({ store }: Context, words: Words): Value {
  const [a, b] = [words[1], words[2]].map((key) => {
    const content = store.get(key as Bytes) ?? "";
    if (typeof content !== "string")
      throw new ReplyError("ERR The specified keys must contain string values");
    return content;
  }) as [Bytes, Bytes];
  let [wantsLength, wantsPlaces, withLengths, shortest] = [false, false, false, 0];
  const options = new Arguments(words, 3);
  while (options.left > 0) {
    const option = options.option();
    if (option === "LEN") wantsLength = true;
    else if (option === "IDX") wantsPlaces = true;
    else if (option === "WITHMATCHLEN") withLengths = true;
    else if (option === "MINMATCHLEN" && options.left > 0) shortest = readIndex(options.next());
    else throw syntaxError();
  }
  if (wantsLength && wantsPlaces) {
    throw new ReplyError("ERR If you want both the length and indexes, please just use IDX.");
  }
  const lengthAt = lengths(a, b);
  const length = lengthAt(a.length, b.length);
  if (wantsLength) return length;
  const common: Bytes[] = [];
  const matches: { a: number; b: number; length: number }[] = [];
  let [i, j] = [a.length, b.length];
  while (i > 0 && j > 0) {
    if (a[i - 1] === b[j - 1]) {
      i -= 1;
      j -= 1;
      common.push(a[i] as Bytes);
      const last = matches.at(-1);
      if (last?.a === i + 1 && last.b === j + 1)
        matches[matches.length - 1] = { a: i, b: j, length: last.length + 1 };
      else matches.push({ a: i, b: j, length: 1 });
    } else if (lengthAt(i - 1, j) > lengthAt(i, j - 1)) i -= 1;
    else j -= 1;
  }
  if (!wantsPlaces) return common.toReversed().join("");
  const shown = matches
    .filter((match) => match.length >= shortest)
    .map((match): Value => [
      [match.a, match.a + match.length - 1],
      [match.b, match.b + match.length - 1],
      ...(withLengths ? [match.length] : []),
    ]);
  return ["matches", shown, "len", length];
}

/** How long the longest common subsequence is of the first characters of both. */
function lengths(a: Bytes, b: Bytes): (ofA: number, ofB: number) => number {
  const width = b.length + 1;
  if ((a.length + 1) * width * Uint32Array.BYTES_PER_ELEMENT > MOST) {
    throw new ReplyError("ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len");
  }
  const table = new Uint32Array((a.length + 1) * width);
  const at = (ofA: number, ofB: number) => table[ofA * width + ofB] as number;
  for (let i = 1; i <= a.length; i++) {
    for (let j = 1; j <= b.length; j++) {
      table[i * width + j] =
        a[i - 1] === b[j - 1] ? at(i - 1, j - 1) + 1 : Math.max(at(i - 1, j), at(i, j - 1));
    }
  }
  return at;
}
