/**
 * The name that is most like a misspelt one; undefined if none differs from it in few letters. A name that differs in
 * digits alone, such as `vm:17750` from `vm:17170`, is that of something else.
 */
export function nearestName(misspelt: string, names: Iterable<string>): string | undefined {
  let nearest: string | undefined;
  let least = Math.max(1, Math.floor(misspelt.length / 3)) + 1;
  const letters = withoutDigits(misspelt);
  for (const name of names) {
    if (withoutDigits(name) === letters) continue;
    // Names of very different length cannot be near.
    const differ = Math.abs(name.length - misspelt.length) < least ? distance(misspelt, name) : least;
    if (differ < least) [nearest, least] = [name, differ];
  }
  return nearest;
}

const withoutDigits = (name: string) => name.replaceAll(/\d+/g, "0");

/** How many letters were inserted, left out, replaced, or exchanged with the next one. */
function distance(one: string, other: string): number {
  let before: number[] = [];
  let last = Array.from({ length: other.length + 1 }, (_, i) => i);
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let k = 1; k <= other.length; k++) {
      const isSame = one[i - 1] === other[k - 1];
      const isExchanged = i > 1 && k > 1 && one[i - 1] === other[k - 2] && one[i - 2] === other[k - 1];
      row[k] = Math.min(
        (last[k] as number) + 1,
        (row[k - 1] as number) + 1,
        (last[k - 1] as number) + (isSame ? 0 : 1),
        isExchanged ? (before[k - 2] as number) + 1 : Infinity,
      );
    }
    [before, last] = [last, row];
  }
  return last[other.length] as number;
}
