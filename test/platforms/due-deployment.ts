import type { ServiceOptions } from "../../serverless/cloudflare.ts";

/** Fails each first attempt of a task with the payload "flaky". Imports nothing of Node. */
export const dueWork: ServiceOptions = {
  consumers: {
    due: {
      backoff: ["7s"],
      handler: ({ payload, attempt }: { payload: unknown; attempt: number }) => {
        if (payload === "flaky" && attempt === 1) throw new Error("once");
        return attempt;
      },
    },
  },
};
