import { Command } from "commander";
import { taskId } from "../../kernel/options/validation.ts";
import { printResults } from "../output/results.ts";
import { operation, type Running, type Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

export function forgetCommand(running: Running): Command {
  const command = new Command("forget")
    .summary("forget keys of debounce, throttle and singleton")
    .description(
      "Forgets keys of debounce, throttle and singleton: the next enqueue with such a key is as the first. Their tasks stay as they are.",
    )
    .argument("<queue>")
    .argument("<keys...>");
  return operation(
    running,
    command,
    async (session: Session, _options: object, queue: string, keys: readonly string[]) => {
      const { api, out, fail } = session;
      const results: { readonly key: string; readonly ok: boolean; readonly result: string }[] = [];
      for (const key of keys) taskId(key, key);
      await refuseUnknownQueue(session, queue);
      try {
        for (const key of keys) {
          const path = pathOf(queue, "keys", { name: key, of: key });
          const { known } = await api.send<{ readonly known: boolean }>("DELETE", path, "known");
          if (!known) fail();
          results.push({ key, ok: known, result: known ? "forgotten" : "not_found" });
        }
      } finally {
        printResults(out, results, "KEY", ({ key }) => key);
      }
    },
  );
}
