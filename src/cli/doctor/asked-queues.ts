import type { QueueCounts } from "../../kernel/tasks/counts.ts";
import type { HealthFinding, HealthReport, QueueHealth } from "../../operate/health/index.ts";
import { Refusal } from "../exit.ts";
import type { Session } from "../session.ts";
import { pathOf } from "../tasks.ts";
import { refuseUnknownQueue } from "../unknown-queue.ts";

/**
 * What is wrong with the queues that match, each once. Without patterns: with all queues.
 * @throws {Refusal} for a pattern that no queue matches: what is misspelt would look as if all were well
 */
export async function healthOf(
  session: Session,
  patterns: readonly string[],
  after: number | undefined,
): Promise<HealthReport> {
  const [first = "*", ...others] = patterns;
  const all = await matching(session, first, after);
  const queues = [...all.queues];
  const findings = [...all.findings];
  let { truncated } = all;
  for (const pattern of others) {
    const more = await matching(session, pattern, after);
    const known = new Set(queues.map(({ queue }) => queue));
    const isNew = (queue: string) => !known.has(queue);
    queues.push(...more.queues.filter(({ queue }) => isNew(queue)));
    findings.push(...more.findings.filter((one) => "queue" in one && isNew(one.queue)));
    truncated ||= more.truncated;
  }
  return { ...all, findings, queues, truncated };
}

async function matching(session: Session, pattern: string, after: number | undefined): Promise<HealthReport> {
  const query = { queues: pattern === "*" ? undefined : pattern, after };
  const found: HealthReport = await session.api.get("/v1/health/queues", "findings", query);
  if (pattern === "*" || found.queues.length > 0) return found;
  const isMatched = ({ code }: HealthFinding) => code !== "no_queue";
  return { ...found, findings: found.findings.filter(isMatched), queues: [await unlisted(session, pattern)] };
}

/** A queue that the registry leaves out, because it has been empty for an hour. */
async function unlisted(session: Session, pattern: string): Promise<QueueHealth> {
  const { api, where } = session;
  if (pattern.includes("*"))
    throw new Refusal(`no queue matches ${pattern}. To list all: sluice queues${where}`);
  await refuseUnknownQueue(session, pattern);
  const { pending, working }: QueueCounts = await api.get(pathOf(pattern), "pending");
  return { queue: pattern, status: "ok", pending, working };
}
