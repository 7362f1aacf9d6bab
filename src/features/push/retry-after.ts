/**
 * How long a receiver asks to wait, ms.
 * @param header `Retry-After`: seconds, or a date of HTTP, such as `Sun, 06 Nov 1994 08:49:37 GMT`
 * @returns at most `most`; undefined if it does not ask to wait
 */
export function retryAfterOf(header: string | null, most: number): number | undefined {
  const text = header?.trim() ?? "";
  const ms = text.endsWith("GMT")
    ? Date.parse(text) - Date.now()
    : /^\d+$/.test(text)
      ? Number(text) * 1_000
      : 0;
  return ms > 0 ? Math.min(Math.ceil(ms), most) : undefined;
}
