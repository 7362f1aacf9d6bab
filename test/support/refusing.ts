import { expect } from "vitest";
import type { Transport } from "../../src/index.ts";

/** A transport that fails: wrong arguments are refused before any request. */
export const unsent: Transport = {
  send: () => {
    throw new Error("a request was sent");
  },
};

/** Removes the type, as calls from JavaScript have none. */
export const loose = (value: unknown): never => value as never;

/** The path that an error names, and arguments with which a call throws it. */
export type Refused = readonly [path: string, ...given: unknown[]];

/** Expects that a call refuses each of these arguments. */
export async function refuses(call: (given: never) => unknown, ...refused: readonly Refused[]) {
  for (const [path, ...given] of refused) {
    for (const [i, one] of given.entries()) {
      const error = { name: "SluiceError", code: "invalid_argument", path };
      await expect(async () => call(loose(one)), `argument ${i} for ${path}`).rejects.toMatchObject(error);
    }
  }
}
