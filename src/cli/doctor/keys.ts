import { counted } from "../../counted.ts";
import type { QueueDiagnostics } from "../../operate/diagnostics.ts";
import { type Finding, finding } from "../../operate/health/index.ts";

/** The most bytes of a key on Upstash. https://upstash.com/docs/redis/troubleshooting/max_key_size_exceeded */
const MAX_KEY = 100e6;

/** What is wrong with the keys of a queue. @param repaired whether the deep sweep has checked all entries */
export function keyFindings({ queue, bytes, valid }: QueueDiagnostics, repaired: boolean): Finding[] {
  const found: Finding[] = [];
  if (bytes !== null && bytes > 0.8 * MAX_KEY) {
    const size = `its tasks have about ${Math.round(bytes / 1e6)} MB; Upstash allows 100 MB a key`;
    const advice = `purge what is not needed: sluice purge ${queue} --state completed. Then give the queue partitions`;
    found.push(
      finding(bytes > 0.95 * MAX_KEY ? "problem" : "warning", "key_nearly_full", queue, size, advice),
    );
  }
  if (valid === false && !repaired) {
    const fault = "it has a fault, cannot be read, or a later release of Sluice wrote some of it";
    found.push(finding("warning", "invalid_entries", queue, fault, `sluice sweep --deep --queue ${queue}`));
  }
  return found;
}

/** The line for a queue with which nothing is wrong. */
export function healthyQueue(
  { queue, pending = 0, working = 0 }: { queue: string; pending?: number; working?: number },
  { bytes, fields }: QueueDiagnostics,
): Finding {
  const size = bytes === null ? counted(fields, "field") : `about ${Math.ceil(bytes / 1e3)} KB`;
  return finding("ok", "queue", queue, `${pending} pending, ${working} working, ${size}`);
}
