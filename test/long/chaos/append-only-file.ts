import { readFileSync } from "node:fs";
import { CommandReader } from "../../../src/embedded/resp-protocol.ts";
import { appendOnlyFiles } from "../../support/append-only-files.ts";

/**
 * The commands in a Redis's append-only file, in their order: what each script wrote, one by one. The server
 * must have started empty, and must never have rewritten the file.
 * @param folder the server's data folder
 */
export function* appendedCommands(folder: string): Generator<string[]> {
  for (const file of appendOnlyFiles(folder)) {
    // The file has the form in which clients send commands.
    for (const words of new CommandReader().read(readFileSync(file)))
      yield words.map((word) => Buffer.from(word, "latin1").toString());
  }
}
