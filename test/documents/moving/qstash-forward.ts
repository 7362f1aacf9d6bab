import { Queue } from "sluice-queue";
import { upstash } from "sluice-queue/upstash";

/** Takes the place of the endpoint, behind its check of the signature: each message becomes a task. */
export async function forward(request: Request): Promise<Response> {
  const emails = new Queue<{ to: string }>("emails", { transport: upstash() });
  const id = request.headers.get("upstash-message-id") ?? undefined;
  await emails.enqueue((await request.json()) as { to: string }, { id });
  return new Response(null, { status: 200 });
}
