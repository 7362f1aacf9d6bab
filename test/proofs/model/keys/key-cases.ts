/** The cases that a call with a key covered. */
import { says } from "../../../support/key-space.ts";
import type { Of } from "../operations.ts";
import type { Happened } from "../real.ts";

/** How many changing records have a letter with a value. */
const countOf = ({ tasks }: Happened["before"], letter: string, value: string): number => {
  const records = [...tasks].filter(([field]) => field.startsWith("."));
  return records.filter(([, record]) => says(record)[letter] === value).length;
};

export function casesOfKey({ by }: Of<"enqueueKeyed">, { answer, before, after }: Happened): string[] {
  const { id, outcome } = answer as { readonly id?: string; readonly outcome?: string };
  if (id === undefined) return [];
  const kind = by.debounce ? "debounce" : by.throttle ? "throttle" : by.singleton ? "singleton" : "replace";
  const met = [`${kind} ${outcome}`];
  if (outcome !== "created") return met;
  const gets = (letter: string, value: string) =>
    countOf(after, letter, value) > countOf(before, letter, value);
  if (gets("y", "cancelled")) met.push(`${kind} cancelled`);
  if (gets("f", "1")) met.push(`${kind} flagged`);
  if (kind === "throttle" && after.tasks.get(`~T:${by.throttle?.key}`)?.includes(";l="))
    met.push("throttle delayed");
  const isReady = [...before.delayed.keys()].some((one) => !after.delayed.has(one) && one !== id);
  if (kind === "debounce" && isReady) met.push("a list starts, and another begins");
  return met;
}
