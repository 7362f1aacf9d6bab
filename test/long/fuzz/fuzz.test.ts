import { expect, test } from "vitest";
import { openapi } from "../../../src/http/docs/openapi.gen.ts";
import { Described } from "./document.ts";
import { openAppStack } from "./stack.ts";
import { runValid } from "./valid-run.ts";

// Broken requests: test/http/fields.test.ts. `npm run test:fuzz` sends both to the Worker in workerd.

test("requests made from the OpenAPI document are answered as it says", async () => {
  const stack = await openAppStack();
  try {
    const { valid } = await runValid(new Described(openapi), stack, { seed: 5, calls: 1_000 });
    expect(valid).toBeGreaterThanOrEqual(1_000);
  } finally {
    await stack.close();
  }
}, 600_000);
