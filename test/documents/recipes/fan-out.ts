import { defineQueue } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

type Subscriber = { id: string; email: string };
type Env = { SUBSCRIBERS_URL: string; MAIL_URL: string };

export const newsletters = defineQueue<{ issue: string; after: string }>("newsletters", {
  timeout: "20s",
  unique: "7d",
});
export const mails = defineQueue<{ issue: string; to: string }>("mails", { timeout: "10s", unique: "7d" });

// One page of subscribers: a task for each of them, then a task for the next page.
const split = newsletters.consumer(async ({ payload: { issue, after }, signal }, env: Env, { queue }) => {
  const url = `${env.SUBSCRIBERS_URL}?after=${encodeURIComponent(after)}&limit=500`;
  const page = (await (await fetch(url, { signal })).json()) as Subscriber[];
  const last = page.at(-1)?.id;
  if (last === undefined) return;
  const tasks = page.map(({ id, email }) => ({ id: `${issue}.${id}`, payload: { issue, to: email } }));
  await queue(mails).enqueueMany(tasks);
  await queue(newsletters).enqueue({ issue, after: last }, { id: `${issue}.${last}` });
});

const send = mails.consumer(async ({ id, payload, signal }, env: Env) => {
  const headers = { "content-type": "application/json", "idempotency-key": id };
  const sent = await fetch(env.MAIL_URL, { method: "POST", headers, body: JSON.stringify(payload), signal });
  if (!sent.ok) throw new Error(`HTTP ${sent.status}`);
});

export default sluice<Env>({
  consumers: [split, send],
  async fetch(request, { queue }) {
    const issue = new URL(request.url).searchParams.get("issue");
    if (!issue) return new Response("?issue=…", { status: 404 });
    return Response.json(await queue(newsletters).enqueue({ issue, after: "" }, { id: issue }));
  },
});
