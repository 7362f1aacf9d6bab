import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

const emails = defineQueue<{ to: string }>("emails", { timeout: "10s" });

export default sluice({
  // The consumer. If it throws, the task is tried again later, ten times in all.
  consumers: [emails.consumer(({ payload }) => console.log("mail to", payload.to))],

  // The producer, as in /signup?to=ada@example.com. The task starts after the response.
  async fetch(request, { queue }) {
    const { pathname, searchParams } = new URL(request.url);
    const to = searchParams.get("to");
    if (pathname !== "/signup" || !to) return new Response("/signup?to=…", { status: 404 });
    return Response.json(await queue(emails).enqueue({ to }));
  },
});
