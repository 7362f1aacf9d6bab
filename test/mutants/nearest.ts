import { nearestScripts } from "./nearest-scripts.ts";

/** The tests that are most likely to notice a fault in a file, by that file: paths under test/, without `.test.ts`. */
export const nearest: Readonly<Record<string, readonly string[]>> = {
  ...nearestScripts,
  "src/bounded-body.ts": ["http/bodies", "consumer/wake-request"],
  "src/queue/backoff.ts": ["unit/backoff", "integration/settle"],
  "src/queue/bounded-run.ts": ["integration/redrive-calls", "integration/purge"],
  "src/queue/codec.ts": [
    "integration/enqueue",
    "conformance/payloads",
    "client/payloads",
    "client/numbers",
    "integration/settle",
  ],
  "src/queue/handle.ts": [
    "fault/resend",
    "integration/pause",
    "integration/enqueue",
    "conformance/transport-commands",
  ],
  "src/queue/identity.ts": [
    "integration/enqueue",
    "integration/enqueue-copies",
    "integration/sweep",
    "unit/option-names",
  ],
  "src/queue/keys.ts": ["contract/scripts", "integration/life-cycle", "integration/queue-names"],
  "src/queue/long-poll.ts": ["integration/pull-copies", "unit/long-poll", "integration/long-poll"],
  "src/queue/lost-number.ts": ["client/numbers", "http/numbers"],
  "src/queue/names.ts": [
    "unit/option-names",
    "integration/groups",
    "integration/group-settings",
    "integration/page",
  ],
  "src/queue/producer.ts": [
    "integration/enqueue",
    "integration/enqueue-copies",
    "fault/resend",
    "integration/unique",
  ],
  "src/queue/pull.ts": [
    "fault/resend",
    "integration/pull-behind-cancelled",
    "integration/pull-copies",
    "integration/dequeue",
  ],
  "src/queue/queue.ts": ["integration/late-progress", "integration/settle"],
  "src/queue/record.ts": ["integration/enqueue", "integration/life-cycle", "conformance/payloads"],
  "src/queue/registry.ts": ["integration/registry", "integration/sweep", "budget/commands"],
  "src/queue/schedule-pass.ts": [
    "integration/occurrences",
    "integration/occurrences-held",
    "integration/occurrences-at-once",
  ],
  "src/queue/settlement.ts": ["integration/settle", "conformance/payloads", "client/payloads"],
  "src/queue/sweep.ts": ["integration/sweep", "integration/unsound", "integration/registry"],
  "src/queue/waker.ts": ["integration/wake", "http/wake"],
  "src/queue/watch.ts": ["unit/watch", "integration/watch"],
  "src/queue/worker.ts": ["integration/heartbeat", "integration/worker-hands"],
  "src/consumer/cloudflare-queue.ts": ["consumer/cloudflare-queue", "consumer/cloudflare-queue-rules"],
  "src/consumer/hands.ts": [
    "consumer/drain-stops",
    "consumer/drain-budget",
    "consumer/drain-closing",
    "consumer/drain",
  ],
  "src/consumer/held.ts": ["consumer/drain", "consumer/drain-requests", "consumer/drain-stops"],
  "src/consumer/outbox.ts": ["consumer/drain-requests", "consumer/drain-faults", "consumer/drain-failures"],
  "src/consumer/requests.ts": ["consumer/drain-faults", "consumer/drain-wait", "consumer/drain-closing"],
  "src/consumer/signature.ts": ["consumer/wake-request"],
  "src/consumer/sqs.ts": ["consumer/sqs-answers", "consumer/sqs"],
  "src/consumer/verdict.ts": ["consumer/drain-failures", "consumer/drain-batches"],
  "src/consumer/wake-receiver.ts": ["consumer/wake-request", "integration/service-wakes"],
  "src/consumer/webhook-waker.ts": ["consumer/wake-request"],
  "src/http/auth.ts": ["http/auth", "http/access", "unit/config"],
  "src/http/body.ts": ["http/bodies", "http/payloads"],
  "src/http/context.ts": ["http/tasks", "http/options", "http/fields", "fault/resend-http"],
  "src/http/problem.ts": ["http/problems"],
  "src/http/routes/sweep.ts": ["http/sweep", "http/access"],
  "src/http/routes/tasks.ts": ["http/access", "http/tasks", "http/auth"],
  "src/http/validate.ts": ["http/fields", "http/bodies", "http/tasks"],
  "src/transport/redis-error.ts": ["transport/redis-error", "transport/send", "conformance/transport-faults"],
  "src/transport/resp.ts": ["fault/transport-resp", "conformance/transport-faults"],
  "src/transport/retry.ts": ["transport/retry", "transport/send"],
  "src/transport/send.ts": ["transport/send", "fault/resend"],
  "src/transport/upstash.ts": [
    "fault/transport-upstash-resends",
    "fault/transport-upstash-protocol",
    "conformance/payloads",
    "transport/options",
  ],
  "src/client/body.ts": ["client/payloads", "client/conformance"],
  "src/client/connection.ts": ["client/errors", "client/faults", "client/client", "client/deadline"],
};

/**
 * All others; they run where the nearest noticed nothing. What is left out starts platforms' runtimes, installs packages,
 * compares pages or runs examples and whole stacks: it takes minutes, and of these mutants it notices nothing first.
 */
export const others = [
  "integration",
  "model",
  "fault",
  "budget",
  "conformance",
  "contract",
  "unit",
  "transport",
  "client",
  "consumer",
  "http",
  "fuzz",
  "gateway",
] as const;

/** Sees that the list fits the sources, which it does not while a mutant is applied. */
export const notOfMutants = "contract/mutants";
