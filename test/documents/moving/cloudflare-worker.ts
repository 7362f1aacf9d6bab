import type { CloudflareBatch } from "sluice-queue";

type Env = { MAIL_URL: string };

/** The Worker as Cloudflare Queues calls it. */
export default {
  async queue(batch: CloudflareBatch<{ to: string }>, env: Env) {
    for (const message of batch.messages) {
      const body = JSON.stringify(message.body);
      const sent = await fetch(env.MAIL_URL, { method: "POST", body });
      if (sent.ok) message.ack();
      else message.retry({ delaySeconds: 60 });
    }
  },
};
