import { commandCall, run } from "../../kernel/call.ts";
import { endpointsKey } from "../../kernel/names/keys.ts";
import type { DisabledEndpoint } from "./condition.ts";
import type { CheckedRule } from "./rules.ts";
import type { PassContext } from "./types.ts";

/** The endpoints that are disabled, if a rule watches that. One command. */
export async function disabledEndpoints(
  rules: readonly CheckedRule[],
  { transport, prefix, signal }: PassContext,
): Promise<readonly DisabledEndpoint[] | undefined> {
  if (!rules.some(({ condition }) => condition.needsEndpoints)) return undefined;
  const call = commandCall(["HGET", endpointsKey(prefix), "~disabled"], (reply) => String(reply ?? ""));
  const list = await run(transport, call, { signal });
  return Array.from(list.matchAll(/(\S+):(\w)/g), ([, id = "", reason]) => ({ id, isGone: reason === "g" }));
}
