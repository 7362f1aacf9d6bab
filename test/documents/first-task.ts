import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

const emails = defineQueue<{ to: string }>("emails", { timeout: "10s" });

export default sluice({
  // The consumer: called with each task of the queue.
  consumers: [emails.consumer(({ payload }) => console.log(`a mail to ${payload.to}`))],

  // The producer: /signup?to=a@example.com adds a task.
  async fetch(request, { queue }) {
    const to = new URL(request.url).searchParams.get("to");
    if (!to) return new Response("/signup?to=…", { status: 404 });
    return Response.json(await queue(emails).enqueue({ to }));
  },
});
