import type { OperationText } from "./operation-text.ts";

const count = { pending: 12_041, delayed: 30, blocked: 0, working: 8, rejected: 2 };

export const partitions: readonly OperationText[] = [
  {
    method: "get",
    path: "/v1/queues/{queue}/partitions",
    operationId: "listPartitions",
    tag: "queues",
    summary: "List the partitions of a queue",
    description: "Counts the tasks in each partition. A queue without partitions has one.",
    scopes: ["view"],
    responses: {
      200: {
        description: "The partitions.",
        schemas: ["Partitions"],
        examples: {
          two: {
            queue: "emails",
            count: 2,
            changing: false,
            partitions: [
              { partition: 0, slots: 128, ...count },
              { partition: 1, slots: 128, ...count, pending: 11_986 },
            ],
          },
        },
      },
    },
  },
  {
    method: "put",
    path: "/v1/queues/{queue}/partitions",
    operationId: "resizeQueue",
    tag: "queues",
    summary: "Change the number of partitions",
    description:
      "The queue stays in use, and no task is lost or delivered twice. Tasks stay in the partition that they are in. If a change stops on the way, the next enqueue or sweep completes it. The number of a deployment's declaration applies again when the declaration changes.",
    scopes: ["admin"],
    body: { schemas: ["PartitionCount"], required: true, examples: { two: { count: 2 } } },
    responses: {
      200: {
        description: "The partitions as they are now.",
        schemas: ["Partitions"],
        examples: {
          "of a queue that is in use": {
            queue: "emails",
            count: 2,
            changing: true,
            partitions: [
              { partition: 0, slots: 256, ...count },
              { partition: 1, slots: 0, pending: 0, delayed: 0, blocked: 0, working: 0, rejected: 0 },
            ],
          },
        },
      },
    },
  },
];
