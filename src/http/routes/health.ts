import { cronFinding, healthReport, isAtLeast } from "../../operate/health/index.ts";
import { Problem } from "../problems/problem.ts";
import { readQuery } from "../request/read.ts";
import { healthQuery } from "../request-schemas/health.ts";
import type * as replies from "../response-schemas/health.ts";
import { reply } from "../responses/reply.ts";
import type { App, Services } from "../services.ts";

/** How many findings the detail of a problem has. */
const IN_DETAIL = 10;

/** What is wrong with the queues that the caller may see. */
export function healthRoutes(app: App, { transport, prefix, allow, hasCronSecret }: Services): void {
  app.get("/v1/health/queues", allow("view"), async (c) => {
    const { fail, ...query } = readQuery(c, healthQuery);
    const grants = c.get("grants");
    // What concerns all of the database, or the deployment, is for operators of all queues.
    const isOfAll = grants.allowsAll("view");
    const report = await healthReport(
      transport,
      { ...query, prefix },
      {
        maySee: (queue) => grants.allows("view", queue),
        hasDatabase: isOfAll,
        own: isOfAll && hasCronSecret !== undefined ? [cronFinding(hasCronSecret, true)] : [],
        whose: "this server",
      },
    );
    if (fail && isAtLeast(report.status, fail)) {
      const bad = report.findings.filter(({ status }) => isAtLeast(status, fail));
      const detail = bad.slice(0, IN_DETAIL).map(({ about, found }) => `${about}: ${found}`);
      throw new Problem("unhealthy", { detail: `${detail.join("; ")}.` });
    }
    return reply<typeof replies.health>(report);
  });
}
