import { invalidArgument } from "../errors.ts";

/** A part of an app that has an entry of its own in the package, or a function that loads it. */
export type Part<T> = T | (() => Promise<T>);

/**
 * Checks an option that takes a part.
 * @param entry that has the part
 * @param method that the part has
 * @throws {SluiceError} `invalid_argument`
 */
export function checkPart(part: unknown, name: string, method: string, entry = name): void {
  if (part === undefined || typeof part === "function") return;
  if (typeof (part as Record<string, unknown> | null)?.[method] === "function") return;
  throw invalidArgument(name, `must be the ${name} of sluice-queue/${entry}, or a function that loads it`);
}

/** What the response to a request says that needs a part which is off. */
export const isOff = (what: string, name: string, entry = name): string =>
  `This server ${what}. The option \`${name}\` turns it on: \`import { ${name} } from "sluice-queue/${entry}"\`, ` +
  `and \`sluice({ ${name} })\` or \`createApp({ ${name} })\`.`;

/** The part itself. */
export async function loaded<T extends object>(part: Part<T>): Promise<T> {
  return typeof part === "function" ? part() : part;
}
