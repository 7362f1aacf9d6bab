/** What a sweep changes in the registry, which few do. */
import { queueKeys, registryKey } from "../kernel/names/keys.ts";
import { registerCall } from "../kernel/note.ts";
import { callOf } from "../kernel/scripts/binding.ts";
import { forgetDequeuesScript, unregisterScript } from "../kernel/scripts/unregister-scripts.ts";
import { slicesOf } from "../kernel/slices.ts";
import type { Command, Transport } from "../kernel/transport.ts";
import {
  CHECKED_PER_REQUEST,
  type CheckedQueues,
  type NotesOptions,
  UNREGISTER_AFTER,
} from "./registry-notes.ts";

/** Queues noted or removed by one command. */
const NOTED_PER_COMMAND = 400;

/**
 * Renews the notes of queues in use, and removes queues from the registry that have long been empty, with what they
 * remember of dequeues. Those that another caller has noted meanwhile stay.
 * @param now the time of Redis, epoch ms
 * @param options `notes` are sent along
 */
export async function updateNotes(
  transport: Transport,
  { used, empty }: CheckedQueues,
  now: number,
  options: NotesOptions & { readonly notes: readonly Command[] },
): Promise<void> {
  const keys = { queues: registryKey(options.prefix) };
  const since = now - UNREGISTER_AFTER;
  const unused = [...empty].filter(({ seenAt }) => seenAt <= since);
  for (const slice of slicesOf(unused, CHECKED_PER_REQUEST)) {
    const calls = slice.map(({ name }) => {
      return callOf(forgetDequeuesScript, queueKeys(name, options.prefix), {});
    });
    await transport.send(calls, options);
  }
  const commands: Command[] = [];
  for (const slice of slicesOf(used, NOTED_PER_COMMAND)) {
    const names = slice.map(({ name }) => name);
    commands.push(registerCall(keys, names, options.now ? String(options.now()) : ""));
  }
  commands.push(...options.notes);
  for (const slice of slicesOf(unused, NOTED_PER_COMMAND)) {
    const names = slice.map(({ name }) => ({ queue: name }));
    commands.push(callOf(unregisterScript, keys, { since: String(since) }, names));
  }
  if (commands.length > 0) await transport.send(commands, options);
}
