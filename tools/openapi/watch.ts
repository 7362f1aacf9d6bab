import { frameText, STREAM_HEAD } from "../../src/http/responses/event-stream.ts";
import { eventsQuery, taskQuery } from "../../src/http/schemas/watch.ts";
import { exampleTime, type OperationText } from "./operation-text.ts";

const transitions = [
  { version: 2, to: "working", at: exampleTime + 900 },
  { version: 3, to: "completed", at: exampleTime + 1_200 },
];
const completed = {
  id: "welcome-17",
  queue: "emails",
  state: "completed",
  attempt: 1,
  charged: 1,
  lease: 42,
  requeues: 0,
  version: 3,
  transitions,
  worker: { name: "mailer-1", incarnation: "0VsJ0dW2" },
  enqueuedAt: exampleTime,
  dequeuedAt: exampleTime + 900,
  endedAt: exampleTime + 1_200,
  result: { ok: true },
};

/** What a stream looks like. */
const streamOf = (
  ...frames: readonly [event: string, data: { readonly version?: number; readonly [name: string]: unknown }][]
) => STREAM_HEAD + frames.map(([event, data]) => frameText({ event, id: data.version, data })).join("");

export const watch: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues/{queue}/tasks/{id}",
    operationId: "getTask",
    tag: "tasks",
    summary: "State, result and error of a task; waits for its end, or follows it",
    description: [
      "The record of a completed task, its result included, is kept for its `resultTtl`, that of a dead letter for its `deadTtl`, each at least 5 minutes; that of a cancelled task for 5 minutes. After that the task is not found.",
      "With `wait` it answers when the task has ended, or with the task as it stands when that time is over. The task is looked at again after 250 ms, then half as often each time, down to once in 2 seconds; each look is 3 Redis commands.",
      "With `Accept: text/event-stream` it tells what becomes of the task: first how it stands, then each transition once and in order, until its end. A `transition` has `version`, `to` (a state, or `cancelRequested`) and `at`. `progress` has what the holder last told. `gap` says how many transitions were `missed` because the record keeps the last 16. `end` has the task, and `gone` says that it was deleted or its record has expired; after either leave the stream. `problem` tells of a fault. Versions rise, but progress, and a promotion, told where a look sees it, come with the version told last.",
      "A stream ends after 60 seconds, and the client connects again with `Last-Event-ID`, as browsers' EventSource does by itself: it then goes on behind that version, and nothing is told twice but the last progress. Once the end has been told the answer is 204.",
    ].join("\n\n"),
    scopes: ["enqueue"],
    header: "Last-Event-ID",
    query: taskQuery,
    answers: {
      200: {
        description: "The task, or the stream.",
        schemas: ["Task"],
        examples: { completed },
        stream: streamOf(
          ["transition", { version: 1, to: "pending", at: exampleTime }],
          ["transition", { version: 2, to: "working", at: exampleTime + 900 }],
          ["progress", { version: 2, progress: { done: 0.5 } }],
          ["end", { ...transitions[1], task: completed }],
        ),
      },
      204: {
        description: "A stream's end was told already: `Last-Event-ID` is its version.",
        schemas: [],
        examples: {},
      },
    },
    problems: ["not_found"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/events",
    operationId: "events",
    tag: "queues",
    summary: "What happens to a queue's tasks, as it happens",
    description: [
      "A stream of server-sent events: `enqueued`, `dequeued`, `completed`, `requeued`, `rejected`, `cancelled`, `cancelRequested` (its holder is to stop), `reclaimed`, `redriven`, `deleted`, each with when it was and the ids of the tasks that one call did it to; `*` where the queue was deleted. They come where the queue's setting `events` is on; otherwise the stream is silent.",
      "Best effort, as Redis's pub/sub is: the answer begins when Redis listens, and what happens from then on is told; what happens while nobody listens, such as between two streams, is told to nobody. To miss nothing of one task, follow the task. `problem` tells of a fault, after which the stream ends.",
    ].join("\n\n"),
    scopes: ["admin"],
    query: eventsQuery,
    answers: {
      200: {
        description: "The stream.",
        schemas: [],
        examples: {},
        stream: streamOf(
          ["enqueued", { event: "enqueued", at: exampleTime, ids: ["welcome-17", "welcome-18"] }],
          ["dequeued", { event: "dequeued", at: exampleTime + 900, ids: ["welcome-17"] }],
        ),
      },
    },
    problems: ["unsupported"],
  },
];
