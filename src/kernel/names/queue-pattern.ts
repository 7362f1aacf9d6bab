/** The form of a pattern of queue names. */
export const QUEUE_PATTERN = /^[A-Za-z0-9_.*-]{1,128}$/;

/** What a pattern of queue names must be. */
export const queuePatternForm = "must be a pattern of queue names, such as emails, emails-* or *";

/** Whether the name matches the pattern, in which `*` matches any characters. */
export function matches(pattern: string, name: string): boolean {
  const [start = "", ...rest] = pattern.split("*");
  if (rest.length === 0) return pattern === name;
  const end = rest.pop() ?? "";
  if (!name.startsWith(start) || !name.endsWith(end)) return false;
  let at = start.length;
  for (const part of rest) {
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return at <= name.length - end.length;
}
