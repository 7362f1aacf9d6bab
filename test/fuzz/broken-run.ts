import * as fc from "fast-check";
import { readKeySpace } from "../support/key-space.ts";
import { deepStrictEqual } from "node:assert/strict";
import { type Broken, brokenRequest } from "./broken-request.ts";
import { runSequences } from "../model/sequences.ts";
import type { Sending } from "./fuzz.ts";
import { populate } from "./populate.ts";
import { faultsOfRefusal } from "./refused.ts";

/** Most requests of one batch; they are sent at once. */
const BATCH = 48;

/**
 * Sends broken requests. Throws if one is not refused as it has to be, or changes anything. The error has the
 * seed and the one request that is left after shrinking.
 */
export async function runBroken({ described, stack, bounds, count, sent }: Sending): Promise<void> {
  await stack.empty();
  const known = await populate(described, stack);
  const before = await readKeySpace(stack.redisUrl);
  const routes = described.routes.filter(({ path }) => path.startsWith("/v1/"));
  const one = fc.oneof(
    ...routes.map((route) => brokenRequest(described, route, known).map((broken) => ({ route, broken }))),
  );
  const batch = fc.array(one, { minLength: 1, maxLength: BATCH, size: "max" });
  await runSequences(batch, count, bounds, async (all) => {
    const answers = all.map(async ({ route, broken }) => {
      sent(route);
      refuse(broken, faultsOfRefusal(described, route, broken, await stack.send(broken.sent)));
    });
    const failed = (await Promise.allSettled(answers)).find(({ status }) => status === "rejected");
    if (failed) throw (failed as PromiseRejectedResult).reason;
    deepStrictEqual(await readKeySpace(stack.redisUrl), before);
  });
}

function refuse({ operationId, how }: Broken, faults: readonly string[]): void {
  if (faults.length > 0) throw new Error(`${operationId}, in which ${how}: ${faults.join("; ")}`);
}
