import { health } from "../api/health.ts";
import type { Finding } from "../api/types.ts";
import { useLive } from "../live.ts";

/** The finding that does not say whether tasks still fail. */
const RISING = "dead_letters_rising";

/** Findings whose cause may make a task a dead letter again. */
const killers: readonly Finding["code"][] = ["attempts_fail", "leases_expire", RISING];

/** What is said before a redrive of a queue whose tasks fail, or did a short time ago. */
export function StillFails({ queue }: { readonly queue: string }) {
  const { value } = useLive((signal) => health(queue, signal), queue, { once: true });
  const [first] = killers.flatMap(
    (code) => value?.findings.filter((one) => one.queue === queue && one.code === code) ?? [],
  );
  if (!first) return null;
  return (
    <p class="failure" dir="auto">
      {first.code !== RISING && "Tasks still fail: "}
      {first.found}. If the cause is not fixed, redriven tasks fail again.
    </p>
  );
}
