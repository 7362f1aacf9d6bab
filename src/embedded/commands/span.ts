/**
 * The part of a sequence between two indexes, both included, of which a negative one counts from the end.
 * @returns where it begins, and the place behind its end; the same twice if it is empty
 */
export function span(first: number, last: number, length: number): readonly [begin: number, end: number] {
  const begin = Math.max(first < 0 ? length + first : first, 0);
  const end = Math.min(last < 0 ? length + last : last, length - 1) + 1;
  return begin < end ? [begin, end] : [0, 0];
}
