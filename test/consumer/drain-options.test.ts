import { describe, expect, test } from "vitest";
import { Queue, type Transport } from "../../src/index.ts";
import { drain, drainBatches } from "../../src/consumer/drain/drain.ts";
import { type DrainOptions, type Handler } from "../../src/consumer/drain/types.ts";

// None of these calls reaches Redis.
const transport: Transport = { send: () => expect.unreachable() };
const queue = new Queue("emails", { transport });
const silent = { name: "w", silentAfter: "29s" };

describe.each([
  ["drain", drain],
  ["drainBatches", drainBatches as unknown as typeof drain],
])("%s refuses, before it does anything,", (_, run) => {
  test.each<[string, object, string, RegExp]>([
    ["unknown options", { concurency: 3 }, "concurency", /is an unknown option; expected one of budget, ba/],
    ["a budget of 0", { budget: 0 }, "budget", /must be a duration of 1 to/],
    ["a budget in words", { budget: "soon" }, "budget", /must be a duration/],
    ["a batch of 0", { batch: 0 }, "batch", /must be a whole number from 1 to 1000/],
    ["a batch over the limit", { batch: 1_001 }, "batch", /must be a whole number from 1 to 1000/],
    ["half a handler", { concurrency: 0.5 }, "concurrency", /must be a whole number from 1 to 1000/],
    ["a lease of 0", { lease: 0 }, "lease", /must be a duration of 1 to/],
    ["extends too often", { extendEvery: 249 }, "extendEvery", /must be a duration of 250 to 3600000 ms/],
    ["a timeout of 0", { timeout: 0 }, "timeout", /must be a duration of 1 to/],
    ["a wait over a minute", { wait: "61s" }, "wait", /must be a duration of 0 to 60000 ms/],
    ["a backoff without delays", { backoff: [] }, "backoff", /must have at least one delay/],
    ["a worker without a name", { worker: {} }, "worker.name", /must be/],
    ["a worker that seems dead", { budget: "30s", worker: silent }, "worker.silentAfter", /must be at least/],
    ["an invalid signal", { signal: {} }, "signal", /must be an AbortSignal/],
    ["an invalid signal to close by", { closing: true }, "closing", /must be an AbortSignal/],
    ["a hook that is no function", { onFailure: 1 }, "onFailure", /must be a function/],
    ["a text for true or false", { storeStack: "yes" }, "storeStack", /must be true or false/],
  ])("%s", async (__, options, path, message) => {
    const refused = run(queue, () => undefined, options as DrainOptions);
    await expect(refused).rejects.toMatchObject({
      name: "SluiceError",
      code: "invalid_argument",
      path,
      message: expect.stringMatching(message) as string,
    });
  });

  test.each<[path: string, source: unknown, handler: unknown, options?: unknown]>([
    ["handler", queue, undefined],
    ["source", {}, () => undefined],
    ["source", undefined, () => undefined],
    ["options", queue, () => undefined, null],
  ])("an invalid %s", async (path, source, handler, options) => {
    const refused = run(source as Queue, handler as Handler, options as DrainOptions);
    await expect(refused).rejects.toMatchObject({ code: "invalid_argument", path });
  });
});
