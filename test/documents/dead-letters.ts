// The code of docs/deployments.md on dead letters, after the declarations that the page omits, so that it is type
// checked.

import { defineQueue, type Task } from "sluice-queue";
import { sluice } from "sluice-queue/cloudflare";

interface Env {
  readonly SLACK_URL: string;
}
const emails = defineQueue("emails");
declare function deliver(task: Task): Promise<void>;

export default sluice<Env>({
  consumers: [emails.consumer(deliver)],
  async onDeadLetter({ queue, id, reason, attempts, error }, { env }) {
    const text = `${queue}: task ${id} is dead after ${attempts} deliveries: ${reason}, ${error?.message ?? "no error"}`;
    const signal = AbortSignal.timeout(5_000);
    await fetch(env.SLACK_URL, { method: "POST", body: JSON.stringify({ text }), signal });
  },
});

import type { ServiceOptions } from "sluice-queue/cloudflare";

export const onDeadLetter: ServiceOptions<Env>["onDeadLetter"] = async (letter, { queue }) => {
  if (letter.queue === "reports") return;
  await queue("reports").enqueue(letter);
};
