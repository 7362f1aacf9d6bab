import { queueKeys } from "../../src/queue/core/keys.ts";
import { appendedCommands } from "./append-only-file.ts";
import { QUEUES } from "./work.ts";

/** Where the records of a queue were: the data folders of witnesses, in order. */
export type Stays = ReadonlyMap<string, readonly string[]>;

/**
 * The commands that wrote records of queues whose slots moved. Each witness has all that was written in its
 * part of the cluster. A queue's records are in one part at a time, and arrive in the next with RESTORE.
 */
export function* commandsOf(stays: Stays): Generator<readonly string[]> {
  const folders = new Set([...stays.values()].flat());
  const read = new Map([...folders].map((folder) => [folder, staysIn(folder)]));
  for (const [queue, along] of stays) {
    const seen = new Map<string, number>();
    for (const folder of along) {
      const nth = seen.get(folder) ?? 0;
      seen.set(folder, nth + 1);
      // A queue that began elsewhere has arrived before its first stay here.
      const index = folder === along[0] ? nth : nth + 1;
      yield* read.get(folder)?.get(queue)?.[index] ?? [];
    }
  }
}

/** The commands in a witness's file, by queue and stay. The first stay begins with the file. */
function staysIn(folder: string): Map<string, string[][][]> {
  const names = new Map(Object.values(QUEUES).map((name) => [queueKeys(name).tasks, name]));
  const stays = new Map(Object.values(QUEUES).map((name): [string, string[][][]] => [name, [[]]]));
  for (const command of appendedCommands(folder)) {
    const [word = "", key = ""] = command;
    const own = stays.get(names.get(key) ?? "");
    if (!own) continue;
    if (/^restore/i.test(word)) own.push([]);
    else own.at(-1)?.push(command);
  }
  return stays;
}
