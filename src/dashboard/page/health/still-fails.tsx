import { health } from "../api/health.ts";
import type { Finding } from "../api/types.ts";
import { useLive } from "../live.ts";

/** Findings whose cause may make a task a dead letter again. */
const killers: readonly Finding["code"][] = ["attempts_fail", "leases_expire", "dead_letters_rising"];

/** What is said before a redrive, as long as tasks of the queue fail. */
export function StillFails({ queue }: { readonly queue: string }) {
  const { value } = useLive((signal) => health(queue, signal), queue, { once: true });
  const found = value?.findings.find((one) => one.queue === queue && killers.includes(one.code))?.found;
  if (found === undefined) return null;
  return (
    <p class="failure" dir="auto">
      Tasks still fail: {found}. Fix the cause first, or redriven ones fail again.
    </p>
  );
}
