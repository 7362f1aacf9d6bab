import { expect, test } from "vitest";
import { requestedCancel } from "../../src/operate/requested-cancel.ts";

const NOW = 1e12;
const asked = (ago: number) => ({ version: 3, to: "cancelRequested" as const, at: NOW - ago });
const cancelRequested = true as const;
const began = { version: 2, to: "working" as const, at: NOW - 90_000 };

test.each([
  [{ transitions: [began] }, undefined],
  [
    { cancelRequested, transitions: [began, asked(59_000)] },
    "requested 59s ago; its consumer learns of it within 15s, or when it next extends or settles",
  ],
  [
    { cancelRequested, transitions: [began, asked(60_000)] },
    "requested 1m ago, and the handler has not ended: it hangs, or its consumer extends no lease. Restart the process",
  ],
  [
    { cancelRequested, transitions: [asked(80_000)], worker: { name: "mailer-1" } },
    "requested 1m 20s ago, and the handler has not ended: it hangs, or its consumer extends no lease. Restart the process of worker mailer-1",
  ],
  // Later transitions have displaced it.
  [
    { cancelRequested, transitions: [began] },
    "requested, and the handler has not ended: it hangs, or its consumer extends no lease. Restart the process",
  ],
])("of %j it is said: %s", (task, text) => {
  expect(requestedCancel(task, NOW)).toBe(text);
});
