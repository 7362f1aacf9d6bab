import { queueKeys } from "../../../src/kernel/names/keys.ts";
import { appendedCommands } from "./append-only-file.ts";
import { QUEUES } from "./work.ts";

/** Where the records of a queue were: the data folders of witnesses, in order. */
export type Stays = ReadonlyMap<string, readonly string[]>;

/**
 * The commands that wrote records of queues whose slots moved, in order. Each witness has all that was written in its
 * part of the cluster. A queue's records are in one part at a time, and arrive in the next with RESTORE.
 * @returns with them as faults the files that have more stays of a queue than are known, or fewer: then the commands
 *   are not all, or not in order
 */
export function commandsOf(stays: Stays): { readonly commands: string[][]; readonly faults: string[] } {
  const folders = new Set([...stays.values()].flat());
  const read = new Map([...folders].map((folder) => [folder, staysIn(folder)]));
  const commands: string[][] = [];
  const faults: string[] = [];
  for (const [queue, along] of stays) {
    const next = new Map<string, number>();
    for (const folder of along) {
      // A queue that began elsewhere has arrived before its first stay here.
      const index = next.get(folder) ?? (folder === along[0] ? 0 : 1);
      next.set(folder, index + 1);
      for (const command of read.get(folder)?.get(queue)?.[index] ?? []) commands.push(command);
    }
    for (const [folder, known] of next) {
      const found = read.get(folder)?.get(queue)?.length ?? 0;
      if (found !== known)
        faults.push(`the witness in ${folder} has ${found} stays of ${queue}, not ${known}`);
    }
  }
  return { commands, faults };
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
