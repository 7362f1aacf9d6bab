import type { Session } from "./session.ts";

/** Says, after tasks have become pending, that nothing starts their consumer before cron does. */
export function noteWake({ api, out, io }: Session): void {
  if (api.wakes || !io.stdout.isTTY) return;
  out.note(
    "No consumer was woken: it starts with the next cron, in a server with its next sweep. To wake it, use the deployment (SLUICE_URL), or set SLUICE_WAKE_URL and SLUICE_WAKE_SECRET.",
  );
}
