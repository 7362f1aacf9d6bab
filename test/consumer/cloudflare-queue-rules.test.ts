import { describe, expect, it } from "vitest";
import {
  type CloudflareContext,
  cloudflareQueue,
  type CloudflareQueueOptions,
} from "../../src/consumer/adapters/cloudflare-queue.ts";
import { useRig } from "../support/rig.ts";
import { useSimulatedTime } from "../support/simulated-time.ts";
import { type Case, cases, kinds, names, seenOf } from "./cloudflare-queue-handlers.ts";
import { settleBatch } from "./settle-batch.ts";

// test/platforms/cloudflare/queue-rules.test.ts expects the same of workerd.

const rules = Object.entries(cases).map(([sentence, rule]) => ({ sentence, ...rule }));

describe("each handler of the table does in Sluice what it does in workerd", () => {
  const rig = useRig();
  useSimulatedTime(rig);

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

  it.each(rules)("$sentence", async ({ becomes, handle }) => {
    expect(await settled(handle)).toBe(becomes);
  });

  it.each(rules.filter(({ becomes, impatient }) => becomes !== impatient))(
    "not with the flag queue_consumer_no_wait_for_wait_until: $sentence",
    async ({ handle, impatient }) => {
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

  it("a message of each kind looks the same", async () => {
    const seen: unknown[] = [];
    const handler = cloudflareQueue((batch) => void seen.push(...seenOf(batch)), { queue: "kinds" });
    const queue = rig.queue();
    const payloads = [{ to: "a@example.com" }, "text", new Uint8Array([0, 255])];
    await queue.enqueueMany(payloads.map((payload) => ({ payload })));
    await settleBatch(queue, handler);
    expect(seen).toEqual(kinds);
  });
});
