import type { CloudflareBatch, CloudflareContext } from "../../src/adapters/cloudflare-queue.ts";

export const names = ["a", "b", "c"] as const;

type Rule = (batch: CloudflareBatch, ctx: CloudflareContext) => unknown;

/** A handler that shows a rule. */
export interface Case {
  /** The outcome of each message: `ack`, or `retry` with its delay in seconds, if one was set. */
  readonly becomes: string;
  readonly handle: Rule;
  /** The outcome if the promises given to `waitUntil` are not waited for. @default `becomes` */
  readonly impatient: string;
}

const of = (becomes: string, handle: Rule, impatient = becomes): Case => ({
  becomes,
  handle,
  impatient,
});

const soon = () => new Promise((resolve) => setTimeout(resolve, 5));

/** Resolves long after the handler has returned, even on a busy machine. */
const later = () => new Promise((resolve) => setTimeout(resolve, 300));

const fails = (): never => {
  throw new Error("the handler failed");
};

/** What a handler sees of a message of each kind: JSON, text and bytes. */
export const kinds = [
  { body: { to: "a@example.com" }, bytes: false, attempts: 1, dated: true },
  { body: "text", bytes: false, attempts: 1, dated: true },
  { body: [0, 255], bytes: true, attempts: 1, dated: true },
];

/** What a handler sees of the messages of a batch, in the form of {@link kinds}. */
export const seenOf = ({ messages }: CloudflareBatch) =>
  messages.map(({ body, attempts, timestamp }) => {
    const bytes = body instanceof ArrayBuffer && [...new Uint8Array(body)];
    return { body: bytes || body, bytes: bytes !== false, attempts, dated: timestamp instanceof Date };
  });

/** Handlers for a batch of three. They run in workerd too, so they import nothing. */
export const cases: Record<string, Case> = {
  // Neither acknowledged nor retried.
  "a handler that returns acknowledges all": of("ack, ack, ack", () => {}),
  "a handler whose promise resolves acknowledges all": of("ack, ack, ack", soon),
  "a handler that throws retries all": of("retry, retry, retry", fails),
  "a handler whose promise rejects retries all": of("retry, retry, retry", async () => {
    await soon();
    fails();
  }),
  "what is neither acknowledged nor retried is acknowledged": of(
    "retry 1, ack, ack",
    ({ messages: [a, b] }) => {
      a?.retry({ delaySeconds: 1 });
      b?.ack();
    },
  ),

  // One message.
  "an acknowledged message stays so when the handler throws": of("ack, retry, retry", ({ messages: [a] }) => {
    a?.ack();
    fails();
  }),
  "a retried message keeps its delay when the handler throws": of(
    "retry 1, retry, retry",
    ({ messages: [a] }) => {
      a?.retry({ delaySeconds: 1 });
      fails();
    },
  ),
  "retry() after ack() has no effect": of("ack, ack, ack", ({ messages: [a] }) => {
    a?.ack();
    a?.retry();
  }),
  "ack() after retry() has no effect": of("retry, ack, ack", ({ messages: [a] }) => {
    a?.retry();
    a?.ack();
  }),
  "of several retry() the last one's delay counts": of("retry 2, retry, ack", ({ messages: [a, b] }) => {
    a?.retry({ delaySeconds: 1 });
    a?.retry({ delaySeconds: 2 });
    b?.retry({ delaySeconds: 1 });
    b?.retry();
  }),
  "a delay of 0 is a delay": of("retry 0, ack, ack", ({ messages: [a] }) => a?.retry({ delaySeconds: 0 })),

  // The whole batch.
  "ackAll() acknowledges all, also when the handler throws": of("ack, ack, ack", (batch) => {
    batch.ackAll();
    fails();
  }),
  "retryAll() retries all, also when the handler returns": of("retry 1, retry 1, retry 1", (batch) => {
    batch.retryAll({ delaySeconds: 1 });
  }),
  "retryAll() keeps its delay when the handler throws": of("retry 1, retry 1, retry 1", (batch) => {
    batch.retryAll({ delaySeconds: 1 });
    fails();
  }),
  "retryAll() without a delay": of("retry, retry, retry", (batch) => batch.retryAll()),
  "ackAll() after retryAll() has no effect": of("retry, retry, retry", (batch) => {
    batch.retryAll();
    batch.ackAll();
  }),
  "retryAll() after ackAll() has no effect": of("ack, ack, ack", (batch) => {
    batch.ackAll();
    batch.retryAll();
  }),
  "of several retryAll() the last delay that was set counts": of("retry 2, retry 2, retry 2", (batch) => {
    batch.retryAll({ delaySeconds: 1 });
    batch.retryAll({ delaySeconds: 2 });
    batch.retryAll();
  }),

  // Both.
  "ackAll() leaves earlier retries alone": of("retry 1, ack, ack", (batch) => {
    batch.messages[0]?.retry({ delaySeconds: 1 });
    batch.ackAll();
  }),
  "retryAll() leaves earlier acknowledgements alone": of("ack, retry 1, retry 1", (batch) => {
    batch.messages[0]?.ack();
    batch.retryAll({ delaySeconds: 1 });
  }),
  "retryAll() leaves the delay of earlier retries alone": of("retry 2, retry, retry 1", (batch) => {
    batch.messages[0]?.retry({ delaySeconds: 2 });
    batch.messages[1]?.retry();
    batch.retryAll({ delaySeconds: 1 });
  }),
  "ack() after retryAll() has no effect": of("retry 1, retry 1, retry 1", (batch) => {
    batch.retryAll({ delaySeconds: 1 });
    batch.messages[0]?.ack();
  }),
  "retry() after retryAll() has a delay of its own": of("retry 2, retry 1, retry 1", (batch) => {
    batch.retryAll({ delaySeconds: 1 });
    batch.messages[0]?.retry({ delaySeconds: 2 });
  }),
  "retry() after ackAll() has no effect": of("ack, ack, ack", (batch) => {
    batch.ackAll();
    batch.messages[0]?.retry();
  }),

  // After the handler returned.
  "a promise given to waitUntil() that rejects retries what was not acknowledged": of(
    "ack, retry, retry",
    ({ messages: [a] }, ctx) => {
      a?.ack();
      ctx.waitUntil(later().then(fails));
    },
    "ack, ack, ack",
  ),
  "calls count until the last promise given to waitUntil() has ended": of(
    "retry 1, ack, ack",
    ({ messages: [a] }, ctx) => {
      ctx.waitUntil(
        later().then(() => {
          ctx.waitUntil(later().then(() => a?.retry({ delaySeconds: 1 })));
        }),
      );
    },
    "ack, ack, ack",
  ),
  "waitUntil() is waited for when the handler throws": of(
    "ack, retry, retry",
    ({ messages: [a] }, ctx) => {
      ctx.waitUntil(later().then(() => a?.ack()));
      fails();
    },
    "retry, retry, retry",
  ),
  "a call after the handler has returned has no effect if nothing waits for it": of(
    "ack, ack, ack",
    ({ messages: [a] }) => {
      setTimeout(() => a?.retry(), 1_000);
    },
  ),

  // Delays that are not whole numbers.
  "a negative delay is 0": of("retry 0, retry 0, ack", ({ messages: [a, b] }) => {
    a?.retry({ delaySeconds: -1 });
    b?.retry({ delaySeconds: -0.5 });
  }),
  "a fraction of a second is cut off": of("retry 1, retry 0, ack", ({ messages: [a, b] }) => {
    a?.retry({ delaySeconds: 1.9 });
    b?.retry({ delaySeconds: 0.9 });
  }),
  "a delay that is no number is 0, a numeric text counts": of("retry 0, retry 0, retry 1", ({ messages }) => {
    const delays = [Number.NaN, null, "1"] as unknown as number[];
    for (const [at, delaySeconds] of delays.entries()) messages[at]?.retry({ delaySeconds });
  }),
  "a delay beyond 32 bits throws": of("retry, retry, retry", ({ messages: [a] }) => {
    a?.retry({ delaySeconds: 2 ** 31 });
  }),
};
