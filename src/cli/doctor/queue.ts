import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { QueueDiagnostics } from "../../operate/diagnostics.ts";
import { counted } from "../output/counted.ts";
import { span } from "../../kernel/options/span.ts";
import { type Finding, ok, problem, warning } from "./finding.ts";

/** The most bytes of a key on Upstash. https://upstash.com/docs/redis/troubleshooting/max_key_size_exceeded */
const MAX_KEY = 100e6;

/** A pending task that waits longer without any working task needs a look, ms. */
const STUCK = 600_000;

/** What is due longer than this was not swept, ms. A minute is the interval of cron. */
const OVERDUE = 180_000;

/** What the state of a queue means: what is wrong, or one line that nothing is. */
export function queueFindings(
  counts: QueueCounts,
  { bytes, fields, valid, entries }: QueueDiagnostics,
  now: number,
  { repaired = false } = {},
): Finding[] {
  const { queue, pending, working, rejected, oldestAge, nextDueAt, broken, paused } = counts;
  const found: Finding[] = [];
  if (broken > 0)
    found.push(
      problem(
        queue,
        `${counted(broken, "broken entry", "broken entries")} set aside`,
        `sluice sweep --deep --queue ${queue}`,
      ),
    );
  if (bytes !== null && bytes > 0.8 * MAX_KEY) {
    const size = `its tasks have about ${Math.round(bytes / 1e6)} MB; Upstash allows 100 MB a key`;
    const advice = `purge what is not needed: sluice purge ${queue} --state completed. Then give the queue partitions`;
    found.push(bytes > 0.95 * MAX_KEY ? problem(queue, size, advice) : warning(queue, size, advice));
  }
  if (paused) found.push(warning(queue, `paused, with ${pending} pending`, `sluice resume ${queue}`));
  else if (pending > 0 && working === 0 && (oldestAge ?? 0) > STUCK) {
    const advice = "is a consumer deployed, and does cron or a wake start it? Look at the platform's log";
    found.push(
      problem(
        queue,
        `${pending} pending, the next enqueued ${span(oldestAge ?? 0)} ago, and no consumer works`,
        advice,
      ),
    );
  }
  if (nextDueAt !== null && now - nextDueAt > OVERDUE)
    found.push(
      problem(
        queue,
        `tasks or leases are overdue for ${span(now - nextDueAt)}`,
        "cron does not sweep. To sweep once by hand: sluice sweep",
      ),
    );
  if (rejected > 0) found.push(warning(queue, counted(rejected, "dead letter"), `sluice dead ${queue}`));
  // The deep sweep has checked all entries.
  if (valid === false && !repaired)
    found.push(
      warning(
        queue,
        "it has a fault, cannot be read, or a later release of Sluice wrote some of it",
        `sluice sweep --deep --queue ${queue}`,
      ),
    );
  if (found.length > 0) return found;
  const size = bytes === null ? counted(fields, "field") : `about ${Math.ceil(bytes / 1e3)} KB`;
  return [
    ok(queue, `${pending} pending, ${working} working, ${size}${repaired ? "" : checked(valid, entries)}`),
  ];
}

function checked(valid: boolean | null, entries: number): string {
  if (valid) return `; ${counted(entries, "valid entry", "valid entries")}`;
  return valid === null ? "; not every entry was checked here, which --repair does" : "";
}
