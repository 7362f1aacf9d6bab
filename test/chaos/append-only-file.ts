import { readFileSync } from "node:fs";
import { appendOnlyFiles } from "../support/append-only-files.ts";

const CR = 13;

/**
 * The commands in a Redis's append-only file, in their order: what each script wrote, one by one. The server
 * must have started empty, and must never have rewritten the file.
 * @param folder the server's data folder
 */
export function* appendedCommands(folder: string): Generator<string[]> {
  for (const file of appendOnlyFiles(folder)) yield* commandsIn(readFileSync(file));
}

/**
 * The file has the form in which clients send commands: `*<how many>`, and of each argument `$<length>` and
 * its bytes.
 */
function* commandsIn(file: Buffer): Generator<string[]> {
  let at = 0;
  const number = () => {
    const end = file.indexOf(CR, at);
    const value = Number(file.toString("latin1", at + 1, end));
    at = end + 2;
    return value;
  };
  while (at < file.length) {
    const command: string[] = [];
    for (let left = number(); left > 0; left--) {
      const length = number();
      command.push(file.toString("utf8", at, at + length));
      at += length + 2;
    }
    yield command;
  }
}
