import { expect, test } from "vitest";
import { fuzz } from "./fuzz.ts";
import { openAppStack } from "./stack.ts";

/** `npm run test:fuzz` makes 20,000 from each of its seeds, to the Worker in workerd. */
const requests = 4_000;

test("requests made from the OpenAPI document are answered as it says, and each broken one is refused with its fault", async () => {
  const stack = await openAppStack();
  try {
    const { broken, valid } = await fuzz(stack, { seed: 5, requests });
    expect(broken).toBeGreaterThanOrEqual(requests * 0.75);
    expect(valid).toBeGreaterThanOrEqual(requests * 0.25);
  } finally {
    await stack.close();
  }
}, 600_000);
