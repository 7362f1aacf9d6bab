import type { Adds } from "../../kernel/store.ts";
import type { ValuesQueue } from "../values/encryption.ts";
import type { RequestOptions } from "../core/types.ts";
import { derivedName } from "../core/derived-ids.ts";
import { newToken } from "../core/ids.ts";
import { requestKey } from "../core/validation.ts";

/** A queue, for its operators. */
export interface OperatedQueue {
  readonly store: Adds;
  readonly values: ValuesQueue;
}

/** The token of one call. It derives from the idempotency key, if there is one. */
export function tokenOf(
  { store }: Pick<OperatedQueue, "store">,
  operation: string,
  options: RequestOptions,
): Promise<string> | string {
  const key = requestKey(options);
  return key === undefined ? newToken() : derivedName(operation, store.queue.name, key);
}
