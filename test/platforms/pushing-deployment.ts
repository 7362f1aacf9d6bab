import { push } from "../../src/features/push/index.ts";
import { defineQueue } from "../../src/index.ts";

export interface PushEnv {
  readonly RECEIVER_URL: string;
  readonly HOOK_SECRET: string;
}

export const deliveries = defineQueue("deliveries");
export const results = defineQueue("results");

/** What the tests deploy: the group of a task is the path of its receiver. Imports nothing of Node. */
export const deliver = deliveries.consumer(
  push({
    endpoints: {
      find: ({ task, env }: { task: { group?: string | undefined }; env: PushEnv }) => ({
        url: `${env.RECEIVER_URL}/${task.group}`,
      }),
    },
    secret: (env: PushEnv) => env.HOOK_SECRET,
    timeout: "5s",
    allow: ["127.0.0.1"],
    allowPrivate: ["127.0.0.1"],
    callback: results,
  }),
);
