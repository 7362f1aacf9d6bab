import type { Bytes } from "./bytes.ts";

/** The words of a command: its name, and its arguments. */
export type Words = readonly Bytes[];
