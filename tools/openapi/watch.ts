import { frameText, STREAM_HEAD } from "../../src/http/responses/event-stream.ts";
import { eventsQuery, taskQuery } from "../../src/http/request-schemas/watch.ts";
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
  errors: [],
  worker: { name: "mailer-1", incarnation: "0VsJ0dW2" },
  enqueuedAt: exampleTime,
  dequeuedAt: exampleTime + 900,
  endedAt: exampleTime + 1_200,
  result: { ok: true },
};

/** The text of a stream with these events. */
const streamOf = (
  ...frames: readonly [event: string, data: { readonly version?: number; readonly [name: string]: unknown }][]
) => STREAM_HEAD + frames.map(([event, data]) => frameText({ event, id: data.version, data })).join("");

export const watch: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues/{queue}/tasks/{id}",
    operationId: "getTask",
    tag: "tasks",
    summary: "Get a task: its state, result and error; wait for its end, or follow it",
    description: [
      "The record of a completed task, with its result, is kept for its `resultTtl`, the record of a dead letter for its `deadTtl`, each at least 5 minutes. The record of a cancelled task is kept for 5 minutes. After that the task is not found.",
      "With `wait`, the response comes when the task has ended. If it has not ended in time, the response has its current state. The server reads the task after 250 ms, then in growing intervals of up to 2 seconds. Each read costs 3 Redis commands.",
      "With `Accept: text/event-stream`, the response is a stream of the task's transitions: first the current state, then each transition once and in order, until the end. A `transition` has `version`, `to` (a state, or `cancelRequested`) and `at`. `progress` has the progress that the holder last sent. `gap` has the number of transitions that the stream `missed`, because the record keeps only the last 16. `end` has the task. `gone` means that the task was deleted or its record has expired. After `end` or `gone`, close the stream. `problem` reports an error. Versions increase, with two exceptions: progress, and a promotion that a read observes, have the version of the event before.",
      "A stream ends after 60 seconds, and the client reconnects with `Last-Event-ID`, as the browsers' EventSource does by itself. The stream then continues after that version. Nothing is sent twice except the last progress. After the end was sent, the response is 204.",
    ].join("\n\n"),
    scopes: ["enqueue", "view"],
    header: "Last-Event-ID",
    query: taskQuery,
    responses: {
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
        description: "The end was already sent: `Last-Event-ID` is its version.",
        schemas: [],
        examples: {},
      },
    },
    problems: ["not_found", "offload_failed"],
  },
  {
    method: "get",
    path: "/v1/queues/{queue}/events",
    operationId: "events",
    tag: "queues",
    summary: "Stream the events of a queue's tasks",
    description: [
      "A stream of server-sent events: `enqueued`, `dequeued`, `completed`, `requeued`, `rejected`, `cancelled`, `cancelRequested` (the holder should stop), `reclaimed`, `redriven`, `released` (no longer blocked), `deleted`, `progress`, and `gap` after the server has missed some. Each has its time and the ids of the tasks of one call; the id is `*` if the queue was deleted. `completed`, `requeued`, `rejected`, `reclaimed` and `progress` also have `tasks`: of each the `attempt`, and its `result`, `progress`, or `error` as text of at most 200 characters; of a requeued one `dueAt`, unless it is due at once; of a rejected one the `reason`. A value of over 1,800 bytes is not in an event, which then has `withheld` with the reason: get the task. Bytes are in base64, with `encoding` or `errorEncoding`. A token that hides payloads gets no `progress` events, and no results. The queue publishes events if its setting `events` is on. Otherwise the stream is silent.",
      "Delivery is best effort, like Redis's pub/sub. The response begins when the server has subscribed, and has all events from then on. Events between two streams are lost. To receive every transition of one task, follow the task. `problem` reports an error, after which the stream ends.",
    ].join("\n\n"),
    scopes: ["view"],
    query: eventsQuery,
    responses: {
      200: {
        description: "The stream.",
        schemas: [],
        examples: {},
        stream: streamOf(
          ["enqueued", { event: "enqueued", at: exampleTime, ids: ["welcome-17", "welcome-18"] }],
          ["dequeued", { event: "dequeued", at: exampleTime + 900, ids: ["welcome-17"] }],
          [
            "completed",
            {
              event: "completed",
              at: exampleTime + 1_900,
              ids: ["welcome-17"],
              tasks: [{ id: "welcome-17", attempt: 1, result: { sent: true } }],
            },
          ],
        ),
      },
    },
    problems: ["unsupported"],
  },
];
