import { nearestLib } from "./nearest-lib.ts";
import { nearestScripts } from "./nearest-scripts.ts";

/**
 * The tests that are most likely to notice a fault in a file, by that file: paths under test/, without
 * `.test.ts`.
 */
export const nearest: Readonly<Record<string, readonly string[]>> = {
  ...nearestScripts,
  ...nearestLib,
  "src/bounded-body.ts": ["http/bodies", "consumer/wake-request"],
  "src/queue/core/backoff.ts": ["unit/backoff", "integration/tasks/settle", "consumer/drain-outage"],
  "src/queue/core/dead-letter.ts": ["integration/tasks/dead-letters"],
  "src/queue/core/error-summary.ts": ["integration/tasks/dead-letters", "consumer/task-failures"],
  "src/queue/core/hook.ts": ["integration/sweep/dead-letter-hook", "consumer/task-failures"],
  "serverless/deployment/pending-work.ts": ["integration/services/service-dead-letter-hook"],
  "serverless/deployment/invocation.ts": [
    "integration/services/service-dead-letter-hook",
    "integration/services/handler-tools",
  ],
  "serverless/deployment/service.ts": [
    "integration/services/service-dead-letter-hook",
    "integration/services/service-alarms",
  ],
  "serverless/deployment/task-log.ts": ["integration/services/service-dead-letters"],
  "src/consumer/drain/task-failures.ts": ["consumer/task-failures"],
  "src/queue/operate/paged-run.ts": ["integration/operate/redrive-calls", "integration/operate/purge"],
  "src/queue/core/base64.ts": ["conformance/payloads", "client/payloads"],
  "src/queue/core/codec.ts": [
    "integration/tasks/enqueue",
    "conformance/payloads",
    "client/payloads",
    "client/numbers",
    "integration/tasks/settle",
  ],
  "src/queue/tasks/queue-base.ts": [
    "fault/resend",
    "integration/operate/pause",
    "integration/tasks/enqueue",
    "conformance/transport-commands",
  ],
  "src/queue/core/ids.ts": [
    "integration/tasks/enqueue",
    "integration/tasks/enqueue-copies",
    "integration/sweep/sweep",
    "unit/option-names",
  ],
  "src/queue/core/keys.ts": [
    "contract/scripts",
    "integration/tasks/life-cycle",
    "integration/tasks/queue-names",
  ],
  "src/queue/tasks/long-poll.ts": [
    "integration/tasks/dequeue-copies",
    "unit/long-poll",
    "integration/tasks/long-poll",
  ],
  "src/queue/core/not-json.ts": ["client/numbers", "http/numbers"],
  "src/queue/core/validation.ts": [
    "unit/option-names",
    "integration/groups/groups",
    "integration/groups/group-settings",
    "integration/operate/list",
  ],
  "src/queue/redis/coalescer.ts": ["unit/coalescer"],
  "src/queue/tasks/task-options.ts": [
    "integration/tasks/enqueue-copies",
    "integration/tasks/unique-ids",
    "integration/values/encryption",
  ],
  "src/queue/tasks/encode-tasks.ts": [
    "integration/tasks/enqueue",
    "integration/tasks/enqueue-copies",
    "fault/resend",
  ],
  "src/queue/tasks/producer.ts": [
    "integration/tasks/coalescing",
    "integration/tasks/in-flight",
    "integration/tasks/enqueue",
    "integration/tasks/enqueue-copies",
    "fault/resend",
    "integration/tasks/unique",
  ],
  "src/queue/tasks/dequeue.ts": [
    "integration/tasks/dead-letters",
    "integration/tasks/coalesced-dequeues",
    "fault/resend",
    "integration/tasks/dequeue-behind-cancelled",
    "integration/tasks/dequeue-copies",
    "integration/tasks/dequeue",
  ],
  "src/queue/tasks/settle-calls.ts": ["integration/tasks/late-progress", "integration/tasks/settle"],
  "src/queue/core/record.ts": [
    "integration/tasks/enqueue",
    "integration/tasks/life-cycle",
    "conformance/payloads",
  ],
  "src/queue/sweep/registry.ts": [
    "integration/sweep/registry",
    "integration/sweep/sweep",
    "integration/tasks/wake-later",
  ],
  "src/queue/sweep/registry-notes.ts": ["integration/sweep/registry", "integration/sweep/sweep"],
  "src/queue/tasks/registration.ts": [
    "integration/sweep/registry",
    "integration/sweep/sweep",
    "budget/commands",
  ],
  "src/queue/schedules/schedule-pass.ts": [
    "integration/schedules/occurrences",
    "integration/schedules/occurrences-refused",
    "integration/schedules/occurrences-at-once",
    "integration/tasks/wake-later",
  ],
  "src/queue/tasks/settle.ts": [
    "integration/tasks/settle",
    "integration/tasks/errors-of-attempts",
    "conformance/payloads",
    "client/payloads",
  ],
  "src/queue/values/encryption.ts": ["integration/tasks/errors-of-attempts"],
  "src/queue/operate/task-operator.ts": ["integration/tasks/errors-of-attempts", "integration/operate/list"],
  "src/queue/core/error-text.ts": ["unit/error-text", "integration/tasks/errors-of-attempts"],
  "src/queue/sweep/sweep.ts": [
    "integration/sweep/sweep",
    "integration/repair/invalid-records",
    "integration/sweep/registry",
  ],
  "src/queue/tasks/waker.ts": ["integration/tasks/wake", "integration/tasks/wake-later", "http/wake"],
  "src/queue/tasks/first-due.ts": ["integration/tasks/wake-later"],
  "src/queue/redis/clock.ts": ["integration/tasks/wake-later", "integration/services/service-alarms"],
  "serverless/process/process-alarms.ts": ["unit/process-alarms", "runtime/due"],
  "serverless/deployment/consumers.ts": ["integration/services/service-alarms"],
  "serverless/cloudflare/sluice-alarm.ts": ["unit/sluice-alarm"],
  "serverless/cloudflare/worker-alarms.ts": ["unit/sluice-alarm"],
  "src/queue/tasks/watch.ts": ["unit/watch", "integration/tasks/watch"],
  "src/queue/tasks/heartbeat.ts": [
    "integration/workers/heartbeat",
    "integration/workers/heartbeat-for-days",
    "integration/workers/worker-leases",
  ],
  "src/consumer/adapters/cloudflare-queue.ts": [
    "consumer/cloudflare-queue",
    "consumer/cloudflare-queue-rules",
  ],
  "src/consumer/drain/handler-pool.ts": [
    "consumer/task-failures",
    "consumer/drain-stops",
    "consumer/drain-budget",
    "consumer/drain-closing",
    "consumer/drain",
  ],
  "src/consumer/drain/in-flight-task.ts": [
    "consumer/drain",
    "consumer/drain-requests",
    "consumer/drain-stops",
  ],
  "src/consumer/drain/settlement-buffer.ts": [
    "consumer/drain-requests",
    "consumer/drain-faults",
    "consumer/drain-failures",
  ],
  "src/consumer/drain/pace.ts": ["unit/pace"],
  "src/consumer/drain/drain-requests.ts": [
    "consumer/drain-faults",
    "consumer/drain-wait",
    "consumer/drain-closing",
  ],
  "src/consumer/drain/drain-loop.ts": [
    "consumer/task-failures",
    "consumer/drain-requests",
    "consumer/drain",
    "consumer/drain-wait",
  ],
  "src/consumer/wake/signature.ts": ["consumer/wake-request"],
  "src/consumer/adapters/sqs.ts": ["consumer/sqs-answers", "consumer/sqs"],
  "src/consumer/drain/to-settlement.ts": ["consumer/drain-failures", "consumer/drain-batches"],
  "src/consumer/wake/wake-receiver.ts": ["consumer/wake-request", "integration/services/service-wakes"],
  "src/consumer/wake/webhook-waker.ts": ["consumer/wake-request"],
  "src/http/auth/authenticator.ts": ["http/auth", "http/access", "unit/config"],
  "src/http/request/body.ts": ["http/bodies", "http/payloads"],
  "src/http/request/read.ts": ["http/tasks", "http/options", "http/fields", "fault/resend-http"],
  "src/http/problems/problem.ts": ["http/problems"],
  "src/http/routes/sweep.ts": ["http/sweep", "http/access"],
  "src/http/routes/tasks.ts": ["http/access", "http/tasks", "http/auth"],
  "src/http/request/validate.ts": ["http/fields", "http/bodies", "http/tasks"],
  "src/transport/redis-error.ts": ["transport/redis-error", "transport/send", "conformance/transport-faults"],
  "src/transport/resp.ts": ["fault/transport-resp", "conformance/transport-faults"],
  "src/retry.ts": ["transport/retry", "client/deadline", "consumer/wake-request", "transport/send"],
  "src/transport/retry.ts": ["transport/retry", "transport/options"],
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
 * All others; they run if the nearest noticed nothing. Left out are tests that start platforms' runtimes,
 * install packages, compare pages or run examples and whole stacks: they take minutes and notice none of
 * these mutants first.
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

/** Checks that the list fits the sources, which it does not while a mutant is applied. */
export const notOfMutants = "contract/mutants";
