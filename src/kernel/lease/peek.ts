/** What a long poll looks at in one shard. */
import { type Call, commandCall } from "../call.ts";
import type { Shard } from "../shard.ts";

/** Whether tasks are pending. */
export function pendingCall({ keys }: Shard): Call<boolean> {
  return commandCall(["EXISTS", keys.pending, keys.fair], (reply) => Number(reply) > 0);
}

/** When the first delayed task is due, epoch ms; null if there is none. */
export function firstDueCall({ keys }: Shard): Call<number | null> {
  return commandCall(["ZRANGE", keys.delayed, "0", "0", "WITHSCORES"], (reply) => {
    const [, score] = reply as readonly string[];
    return score === undefined ? null : Math.floor(Number(score));
  });
}

/** Redis's time, epoch ms. */
export const timeCall: Call<number> = commandCall(["TIME"], (reply) => {
  const [seconds, micros] = reply as readonly string[];
  return Number(seconds) * 1_000 + Math.floor(Number(micros) / 1_000);
});
