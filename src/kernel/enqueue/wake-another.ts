import { invalidArgument } from "../../errors.ts";
import type { RequestOptions } from "../options/types.ts";
import { onlyOptions, REQUEST_OPTIONS } from "../options/validation.ts";
import { wakeScript } from "../scripts/wake-script.ts";
import { run } from "../call.ts";
import type { Adds } from "../store.ts";

/** Wakes another consumer: see `Producer.wakeAnother`. */
export async function wakeAnother(store: Adds, options: RequestOptions): Promise<boolean> {
  onlyOptions(options, REQUEST_OPTIONS);
  const window = store.wakeWindow();
  if (!window) throw invalidArgument("wake", "must be set to wake a consumer");
  const { transport } = store.queue;
  const call = () => run(transport, store.shard(0).call(wakeScript, { window }), options);
  const wanted = await store.over(call, options);
  if (wanted) await store.ready({ now: true });
  return wanted;
}
