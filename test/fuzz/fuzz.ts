import { messageOf } from "../../src/errors.ts";
import type { Bounds } from "../model/sequences.ts";
import { runBroken } from "./broken-run.ts";
import { Described, type Route } from "./document.ts";
import type { Stack } from "./stack.ts";
import { runValid } from "./valid-run.ts";

/** Requests that are sent until there are enough. */
export interface Sending {
  readonly described: Described;
  readonly stack: Stack;
  readonly bounds: Bounds;
  /** How many were sent. */
  readonly count: () => number;
  /** Called for each request. */
  readonly sent: (route: Route) => void;
}

export interface FuzzReport {
  /** How many requests had a fault. */
  readonly broken: number;
  readonly valid: number;
  /** The operations that were not called. */
  readonly uncalled: readonly string[];
}

/** Each kind of requests, and the function that sends it. */
const kinds = [
  { kind: "broken", share: 0.75, run: runBroken },
  { kind: "valid", share: 0.25, run: runValid },
] as const;

/**
 * Sends requests made from the document that the server has, at least that many.
 * @param reported called as soon as there is a failure
 * @throws if an answer differs from the document; the message has the seed and the shrunk request
 */
export async function fuzz(
  stack: Stack,
  { seed, requests }: { readonly seed: number; readonly requests: number },
  reported: (line: string) => void = () => {},
): Promise<FuzzReport> {
  const { text } = await stack.send({ method: "GET", path: "/openapi.json", headers: {} });
  const described = new Described(JSON.parse(text));
  const uncalled = new Set(described.routes.map(({ operationId }) => operationId));
  const counts = { broken: 0, valid: 0 };
  for (const { kind, share, run } of kinds) {
    const onFailure = (error: unknown) =>
      reported(`failed; looking for less that fails: ${escaped(messageOf(error))}`);
    await run({
      described,
      stack,
      bounds: { seed, calls: Math.ceil(requests * share), onFailure },
      count: () => counts[kind],
      sent({ operationId }) {
        counts[kind]++;
        uncalled.delete(operationId);
      },
    }).catch((error: unknown) => {
      throw new Error(escaped(messageOf(error)));
    });
  }
  return { ...counts, uncalled: [...uncalled] };
}

/** The text with \u escapes for invisible characters, except line ends. */
export function escaped(text: string): string {
  return text.replaceAll(/(?!\n)[\p{C}\u2028\u2029]/gu, (unseen) =>
    Array.from({ length: unseen.length }, (_, i) => unseen.charCodeAt(i))
      .map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`)
      .join(""),
  );
}
