import { Queue } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";
import { emails } from "./qstash.ts";

/** Takes the place of the endpoint, behind its check of the signature: each message becomes a task. */
export async function forward(request: Request): Promise<Response> {
  const queue = new Queue(emails, { transport: upstash() });
  const id = request.headers.get("upstash-message-id") ?? undefined;
  // If this fails, the response is a 500, and QStash calls again.
  await queue.enqueue((await request.json()) as { to: string }, { id });
  return new Response(null, { status: 200 });
}
