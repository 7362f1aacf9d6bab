import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "../../../tools/workerd/harness.ts";
import { cases, kinds, names } from "../../adapters/cloudflare-queue-handlers.ts";

// test/adapters/cloudflare-queue.test.ts expects the same of Sluice.

const rules = Object.entries(cases).map(([sentence, rule], at) => ({ sentence, at, ...rule }));

/** What workerd reports to the queue about a handler's calls. */
interface Note {
  readonly outcome: string;
  readonly ackAll: boolean;
  readonly retryBatch: { readonly retry: boolean; readonly delaySeconds?: number };
  readonly explicitAcks: readonly string[];
  readonly retryMessages: readonly { readonly msgId: string; readonly delaySeconds?: number }[];
}

/** The outcomes by the documentation: a call for one message goes before a call for all. */
function outcomes({ outcome, ackAll, retryBatch, explicitAcks, retryMessages }: Note): string {
  const retry = (seconds?: number) => (seconds === undefined ? "retry" : `retry ${Math.max(0, seconds)}`);
  return names
    .map((name) => {
      if (explicitAcks.includes(name)) return "ack";
      const retried = retryMessages.find(({ msgId }) => msgId === name);
      if (retried) return retry(retried.delaySeconds);
      if (ackAll) return "ack";
      if (retryBatch.retry) return retry(retryBatch.delaySeconds);
      return outcome === "ok" ? "ack" : retry();
    })
    .join(", ");
}

describe("each handler of the table does in workerd what it says", () => {
  let server: TestHarness;
  let notes: Record<"waiting" | "impatient", Note>[];

  beforeAll(async () => {
    const worker = {
      main: fileURLToPath(new URL("queue-rules-worker.ts", import.meta.url)),
      compatibility_date: "2026-10-23",
    };
    const consumer = {
      ...worker,
      name: "consumer",
      compatibility_flags: ["service_binding_extra_handlers"],
      services: [
        { binding: "CONSUMER", service: "consumer" },
        { binding: "IMPATIENT", service: "impatient" },
      ],
      queues: {
        producers: [{ queue: "kinds", binding: "KINDS" }],
        consumers: [{ queue: "kinds", max_batch_size: 3, max_batch_timeout: 0 }],
      },
    };
    const impatient = {
      ...worker,
      name: "impatient",
      compatibility_flags: ["queue_consumer_no_wait_for_wait_until"],
    };
    server = createTestHarness({ workers: [{ config: consumer }, { config: impatient }] });
    await server.listen();
    notes = (await (await server.fetch("/notes")).json()) as typeof notes;
  });
  afterAll(() => server.close());

  it.each(rules)("$sentence", async ({ at, becomes, impatient }) => {
    expect(notes[at] && outcomes(notes[at].waiting)).toBe(becomes);
    // With the flag queue_consumer_no_wait_for_wait_until.
    expect(notes[at] && outcomes(notes[at].impatient)).toBe(impatient);
  });

  it("a message of each kind looks as the table says", async () => {
    expect(await (await server.fetch("/kinds")).json()).toEqual(kinds);
  });
});
