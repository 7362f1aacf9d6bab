import type { Cancelled, RequestOptions } from "../options/types.ts";
import { onlyOptions, REQUEST_OPTIONS, taskId, wholeNumber } from "../options/validation.ts";
import { cancelScript } from "../scripts/cancel-script.ts";
import type { Adds } from "../store.ts";

/** Cancels a task: see `Queue.cancel`. */
export async function cancelTask(
  store: Adds,
  id: string,
  options: RequestOptions & { readonly lease?: number | undefined },
): Promise<Cancelled> {
  onlyOptions(options, ["lease", ...REQUEST_OPTIONS]);
  const lease =
    options.lease === undefined ? "" : String(wholeNumber(options.lease, "lease", 0, 2 ** 53 - 1));
  const args = { id: taskId(id), lease };
  const isUnknown = (reply: string) => reply === "not_found";
  const status = await store.find(id, (shard) => shard.call(cancelScript, args), isUnknown, options);
  return status === "rejected" || status === "working"
    ? { ok: true, state: status }
    : { ok: false, code: status };
}
