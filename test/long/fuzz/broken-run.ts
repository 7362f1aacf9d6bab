import { deepStrictEqual } from "node:assert/strict";
import * as fc from "fast-check";
import { abreast } from "../../support/abreast.ts";
import { readKeySpace } from "../../support/key-space.ts";
import { brokenRequests } from "./broken-request.ts";
import type { Described, Route } from "./document.ts";
import { populate } from "./populate.ts";
import { faultsOfRefusal } from "./refused.ts";
import type { ReturnedValues } from "./returned-values.ts";
import type { Stack } from "./stack.ts";
import { validRequest } from "./valid-request.ts";

/** How many valid requests of an operation are broken, each in all ways. */
const PLANS = 40;

/** Sends requests of an operation with one fault each. Returns which of them are not refused for it. */
export async function wrongRefusals(
  described: Described,
  route: Route,
  { stack, known, seed }: { stack: Stack; known: ReturnedValues; seed: number },
): Promise<{ sent: number; wrong: string[] }> {
  const plans = fc.sample(validRequest(described, route), { numRuns: PLANS, seed });
  const broken = plans.flatMap((plan) => brokenRequests(described, known.filled(plan)));
  // Of each list one item with each fault.
  const ways = new Map(broken.map((one) => [one.how.replaceAll(/\[\d+\]/g, "[]"), one]));
  const wrong: string[] = [];
  await abreast([...ways.values()], async (one) => {
    const faults = faultsOfRefusal(described, route, one, await stack.send(one.sent));
    if (faults.length > 0) wrong.push(`${route.operationId}, in which ${one.how}: ${faults.join("; ")}`);
  });
  return { sent: ways.size, wrong };
}

/**
 * Sends at least that many broken requests. Throws if one is not refused as it has to be, or changes anything.
 * @returns how many were sent
 */
export async function runBroken(
  described: Described,
  stack: Stack,
  { seed, requests }: { readonly seed: number; readonly requests: number },
): Promise<number> {
  await stack.empty();
  const known = await populate(described, stack);
  const before = await readKeySpace(stack.redisUrl);
  let all = 0;
  for (let round = 0; all < requests; round++) {
    for (const route of described.api) {
      const { sent, wrong } = await wrongRefusals(described, route, { stack, known, seed: seed + round });
      if (wrong.length > 0) throw new Error(wrong.join("\n"));
      deepStrictEqual(await readKeySpace(stack.redisUrl), before, `${route.operationId} changed something`);
      all += sent;
    }
  }
  return all;
}
