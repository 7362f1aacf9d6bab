import { messageOf } from "../../../src/errors.ts";
import { runBroken } from "./broken-run.ts";
import { Described } from "./document.ts";
import type { Stack } from "./stack.ts";
import { runValid } from "./valid-run.ts";

export interface FuzzReport {
  /** How many requests had a fault. */
  readonly broken: number;
  readonly valid: number;
  /** The operations that got no valid request. */
  readonly uncalled: readonly string[];
}

/**
 * Sends requests made from the document that the server has, at least that many; three of four have a fault.
 * @param reported called as soon as there is a failure that can be made smaller
 * @throws if an answer differs from the document; the message has the request, if it is valid also the seed
 */
export async function fuzz(
  stack: Stack,
  { seed, requests }: { readonly seed: number; readonly requests: number },
  reported: (line: string) => void = () => {},
): Promise<FuzzReport> {
  const { text } = await stack.send({ method: "GET", path: "/openapi.json", headers: {} });
  const described = new Described(JSON.parse(text));
  const onFailure = (error: unknown) =>
    reported(`failed; looking for less that fails: ${escaped(messageOf(error))}`);
  try {
    const broken = await runBroken(described, stack, { seed, requests: requests * 0.75 });
    const bounds = { seed, calls: Math.ceil(requests * 0.25), onFailure };
    return { broken, ...(await runValid(described, stack, bounds)) };
  } catch (error) {
    throw new Error(escaped(messageOf(error)), { cause: error });
  }
}

/** The text with \u escapes for invisible characters, except line ends. */
export function escaped(text: string): string {
  return text.replaceAll(/(?!\n)[\p{C}\u2028\u2029]/gu, (unseen) =>
    Array.from({ length: unseen.length }, (_, i) => unseen.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
