import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

const emails = defineQueue<{ to: string }>("emails", { timeout: "10s" });

export default sluice({
  // The consumer. If it throws, the task is tried again later, ten times in all.
  consumers: [emails.consumer(({ payload }) => console.log("mail to", payload.to))],

  // The producer, as in /?to=ada@example.com. The task starts after the response.
  async fetch(request, { queue }) {
    const to = new URL(request.url).searchParams.get("to") ?? "bob@example.com";
    return Response.json(await queue(emails).enqueue({ to }));
  },
});
