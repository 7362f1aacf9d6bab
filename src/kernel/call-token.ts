import { derivedName } from "./names/derived-ids.ts";
import { newToken } from "./names/ids.ts";
import type { RequestOptions } from "./options/types.ts";
import { requestKey } from "./options/validation.ts";
import type { QueueRef } from "./queue-ref.ts";

/** The token of one call. It derives from the idempotency key, if there is one. */
export function tokenOf(
  { name }: Pick<QueueRef, "name">,
  operation: string,
  options: RequestOptions,
): Promise<string> | string {
  const key = requestKey(options);
  return key === undefined ? newToken() : derivedName(operation, name, key);
}
