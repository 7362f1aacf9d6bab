import { sluice } from "../../../serverless/cloudflare.ts";

/** A Worker whose tasks take more time than one of its invocations has, and that tells how often it was woken. */
const { fetch, scheduled } = sluice({
  budget: "1s",
  consumers: {
    long: {
      batch: 2,
      concurrency: 1,
      handler: () => new Promise((resolve) => setTimeout(resolve, 200)),
    },
  },
  fetch: () => Response.json({ wakes }),
});

let wakes = 0;

export default {
  scheduled,
  fetch(...args: Parameters<typeof fetch>): ReturnType<typeof fetch> {
    if (new URL(args[0].url).pathname === "/wake") wakes += 1;
    return fetch(...args);
  },
};
