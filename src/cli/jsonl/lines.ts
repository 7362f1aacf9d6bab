import { createReadStream, fstatSync, type Stats, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { messageOf } from "../../errors.ts";
import { Refusal, UsageError } from "../exit.ts";
import type { Io } from "../io.ts";

/** A line of JSON. */
export interface Line {
  /** Its number in the input, from 1. */
  readonly number: number;
  readonly text: string;
  readonly value: unknown;
  /** Bytes of the input up to its end. */
  readonly end: number;
  /** Its own bytes. */
  readonly bytes: number;
}

/** An input of lines, and its size in bytes if that is known. */
export interface Input {
  readonly stream: Readable;
  readonly size: number | undefined;
}

/**
 * A file, or the standard input.
 * @throws {UsageError} if the file cannot be opened
 */
export function openInput({ stdin }: Io, file: string | undefined): Input {
  if (file === undefined) return { stream: stdin, size: sizeOf(stdin.fd) };
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new Error("it is a folder");
    return { size: found.size, stream: createReadStream(file) };
  } catch (error) {
    throw new UsageError(`--file ${file} cannot be read: ${messageOf(error)}`);
  }
}

/** The size of the file that is behind a file descriptor, if one is: of a pipe it is not known. */
function sizeOf(descriptor: number | undefined): number | undefined {
  const found: Stats | undefined = descriptor === undefined ? undefined : fstatSync(descriptor);
  return found?.isFile() ? found.size : undefined;
}

/**
 * Reads JSON lines. Empty lines are skipped, and counted.
 * @throws {Refusal} for a line that is not JSON in UTF-8; it names the line and quotes nothing
 */
export async function* jsonLines(stream: Readable): AsyncGenerator<Line, void> {
  let number = 0;
  let end = 0;
  for await (const text of linesOf(stream)) {
    number++;
    const bytes = Buffer.byteLength(text) + 1;
    end += bytes;
    if (text.trim() === "") continue;
    let value: unknown;
    try {
      value = JSON.parse(text) as unknown;
    } catch {
      throw new Refusal(`line ${number} is not JSON`);
    }
    yield { number, text, value, end, bytes };
  }
}

/** Longest line, in characters: more than a request may have. */
const MOST = 10_000_000;

/** Only `\n` ends a line: JSON may contain the other separators that Node's readline knows. */
async function* linesOf(stream: Readable): AsyncGenerator<string, void> {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let begun: string[] = [];
  let length = 0;
  let number = 1;
  for await (const chunk of stream as AsyncIterable<Buffer | string>) {
    const [rest = "", ...more] = decoded(decoder, Buffer.from(chunk)).split("\n");
    begun.push(rest);
    length += rest.length;
    if (length > MOST) throw new Refusal(`line ${number} is longer than ${MOST} characters`);
    const last = more.pop();
    if (last === undefined) continue;
    yield begun.join("");
    yield* more;
    number += more.length + 1;
    begun = [last];
    length = last.length;
  }
  const last = begun.join("") + decoded(decoder);
  if (last !== "") yield last;
}

/** @param bytes undefined at the end of the input */
function decoded(decoder: TextDecoder, bytes?: Buffer): string {
  try {
    return decoder.decode(bytes, { stream: bytes !== undefined });
  } catch {
    throw new Refusal("the input is not text in UTF-8");
  }
}
