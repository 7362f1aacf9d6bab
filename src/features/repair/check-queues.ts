import { eachAlone, exchange } from "../../kernel/call.ts";
import { Shard } from "../../kernel/shard.ts";
import type { CheckQueues, QueueCheck } from "../../sweep/deep-part.ts";
import { checkScript } from "./repair-scripts.ts";
import { checkedTransport } from "../../kernel/transport.ts";

/** See {@link CheckQueues}. */
export const checkQueues: CheckQueues = async (transport, names, { prefix, now, signal }) => {
  const checks = new Map<string, QueueCheck>();
  if (names.length === 0) return checks;
  const link = eachAlone(checkedTransport(transport));
  const calls = names.map((name) => new Shard({ name, prefix, transport, now }).call(checkScript, {}));
  const replies = await exchange(link, calls, { signal });
  for (const [i, name] of names.entries()) {
    try {
      const check = replies[i]?.();
      if (check) checks.set(name, check);
    } catch {
      // The pass through the queue reports the error.
    }
  }
  return checks;
};
