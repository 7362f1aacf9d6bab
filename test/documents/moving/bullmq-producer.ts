import { Operator, type Transport } from "sluice-queue";
import { emails } from "./bullmq-emails.ts";

// Producer: a task after ten minutes. Its id is refused for 30 days.
export async function signUp(user: string, to: string) {
  const options = { id: `welcome-${user}`, delay: "10m", unique: "30d" } as const;
  await emails.enqueue({ template: "welcome", to }, options);
}

// Dead letters, as retryJobs; on the command line `npx sluice redrive emails --rejected`.
export async function retryAll(transport: Transport) {
  await new Operator(emails, { transport }).redrive({
    reason: ["rejected", "attempts_exhausted", "lease_expired"],
  });
}
