const encoder = new TextEncoder();

/**
 * UTF-8 length of a text, in bytes.
 * @param limit up to this value the result may be an upper bound, which is faster to compute
 */
export function byteLength(text: string, limit = 0): number {
  // A UTF-16 unit has at most three bytes.
  const most = 3 * text.length;
  return most <= limit ? most : encoder.encode(text).length;
}

/** UTF-8 length of several texts, in bytes; `limit` as for {@link byteLength}. */
export function byteLengths(texts: readonly string[], limit: number): number {
  const most = 3 * texts.reduce((sum, { length }) => sum + length, 0);
  return most <= limit ? most : texts.reduce((sum, text) => sum + byteLength(text), 0);
}
