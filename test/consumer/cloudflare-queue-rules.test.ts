import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTestHarness, type TestHarness } from "wrangler";
import {
  type CloudflareContext,
  cloudflareQueue,
  type CloudflareQueueOptions,
} from "../../src/consumer/adapters/cloudflare-queue.ts";
import { useRig } from "../support/rig.ts";
import { type Case, cases, names } from "./cloudflare-queue-handlers.ts";
import { settleBatch } from "./settle-batch.ts";

// No output, and no environment from outside.
Object.assign(process.env, {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
});

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

describe("each handler of the table does the same in workerd and in Sluice", () => {
  const rig = useRig();
  let server: TestHarness;
  let notes: Record<"waiting" | "impatient", Note>[];
  let again: string[];

  beforeAll(async () => {
    const queues = [...rules.map(({ at }) => `rule-${at}`), "kinds"];
    const worker = {
      main: fileURLToPath(new URL("cloudflare-queue-worker.ts", import.meta.url)),
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
        producers: queues.map((queue) => ({ queue, binding: queue.toUpperCase().replace("-", "_") })),
        consumers: queues.map((queue) => ({ queue, max_batch_size: 3, max_batch_timeout: 0 })),
      },
    };
    const impatient = {
      ...worker,
      name: "impatient",
      compatibility_flags: ["queue_consumer_no_wait_for_wait_until"],
    };
    server = createTestHarness({ workers: [{ config: consumer }, { config: impatient }] });
    await server.listen();
    const answer = async (path: string) => (await server.fetch(path)).json();
    notes = (await answer("/notes")) as typeof notes;
    again = (await answer("/again")) as typeof again;
  });
  afterAll(() => server.close());

  /** The outcomes of a batch in Sluice. */
  async function settled(handle: Case["handle"], options: Partial<CloudflareQueueOptions> = {}) {
    const handler = cloudflareQueue((batch, _env, ctx: CloudflareContext) => handle(batch, ctx), {
      queue: "emails",
      // A delay that no handler of the table asks for.
      backoff: ["1h"],
      ...options,
    });
    const queue = rig.queue();
    await queue.enqueueMany(names.map((name) => ({ id: name, payload: name })));
    await settleBatch(queue, handler);
    const states = names.map(async (name) => {
      const { state, dueAt = rig.now } = (await queue.get(name)) ?? {};
      if (state === "completed") return "ack";
      return dueAt - rig.now === 3_600_000 ? "retry" : `retry ${(dueAt - rig.now) / 1_000}`;
    });
    return (await Promise.all(states)).join(", ");
  }

  it.each(rules)("$sentence", async ({ at, becomes, handle, forgetful }) => {
    expect(notes[at] && outcomes(notes[at].waiting)).toBe(becomes);
    const retried = names.filter((_, name) => becomes.split(", ")[name] !== "ack").join("");
    expect(again[at]?.split("").toSorted().join("")).toBe(forgetful ? "abc" : retried);
    expect(await settled(handle)).toBe(becomes);
  });

  it.each(rules.filter(({ becomes, impatient }) => becomes !== impatient))(
    "not with the flag queue_consumer_no_wait_for_wait_until: $sentence",
    async ({ at, handle, impatient }) => {
      expect(notes[at] && outcomes(notes[at].impatient)).toBe(impatient);
      const background: Promise<unknown>[] = [];
      const ctx: CloudflareContext = {
        waitUntil: (promise) => void background.push(Promise.allSettled([promise])),
        passThroughOnException() {},
        props: {},
      };
      expect(await settled(handle, { ctx, waitForWaitUntil: false })).toBe(impatient);
      // A promise may have given another one since.
      expect(background.length).toBeGreaterThan(0);
      await Promise.all(background);
    },
  );

  it("the flag changes nothing else", () => {
    expect(notes.map((note) => outcomes(note.impatient))).toEqual(rules.map(({ impatient }) => impatient));
  });

  it("a message of each kind looks the same", async () => {
    const kinds = await (await server.fetch("/kinds")).json();
    const seen: unknown[] = [];
    const handler = cloudflareQueue(
      (batch) => {
        for (const { body, attempts, timestamp } of batch.messages) {
          const bytes = body instanceof ArrayBuffer && [...new Uint8Array(body)];
          seen.push({
            body: bytes || body,
            bytes: bytes !== false,
            attempts,
            dated: timestamp instanceof Date,
          });
        }
      },
      { queue: "kinds" },
    );
    const queue = rig.queue();
    const payloads = [{ to: "a@example.com" }, "text", new Uint8Array([0, 255])];
    await queue.enqueueMany(payloads.map((payload) => ({ payload })));
    await settleBatch(queue, handler);
    expect(seen).toEqual(kinds);
  });
});
