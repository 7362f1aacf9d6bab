import { createReadStream, fstatSync, type Stats, statSync } from "node:fs";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { Refusal } from "../exit.ts";
import type { Io } from "../io.ts";

/** A line of JSON. */
export interface Line {
  /** Its number in the input, from 1. */
  readonly number: number;
  readonly value: unknown;
  /** Bytes of the input up to its end. */
  readonly bytes: number;
}

/** An input of lines, and its size in bytes if that is known. */
export interface Input {
  readonly stream: Readable;
  readonly size: number | undefined;
}

/** A file, or the standard input. */
export function openInput({ stdin }: Io, file: string | undefined): Input {
  if (file === undefined) return { stream: stdin, size: sizeOf(stdin.fd) };
  return { stream: createReadStream(file), size: statSync(file).size };
}

/** The size of the file that is behind a file descriptor, if one is: of a pipe it is not known. */
function sizeOf(descriptor: number | undefined): number | undefined {
  const found: Stats | undefined = descriptor === undefined ? undefined : fstatSync(descriptor);
  return found?.isFile() ? found.size : undefined;
}

/**
 * Reads JSON lines. Empty lines are skipped, and counted.
 * @throws {Refusal} for a line that is not JSON; it names the line and quotes nothing
 */
export async function* jsonLines(stream: Readable): AsyncGenerator<Line, void> {
  let number = 0;
  let bytes = 0;
  for await (const text of createInterface({ input: stream, crlfDelay: Number.POSITIVE_INFINITY })) {
    number++;
    bytes += Buffer.byteLength(text) + 1;
    if (text.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(text) as unknown;
    } catch {
      throw new Refusal(`line ${number} is not JSON`);
    }
    yield { number, value, bytes };
  }
}
