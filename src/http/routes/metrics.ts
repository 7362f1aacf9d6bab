import { newerSchema, SluiceError, type SluiceErrorCode } from "../../errors.ts";
import { queueOverviews, queueTotals, type QueueTotals } from "../../operate/count-queues.ts";
import { queueNames } from "../../operate/queue-names.ts";
import { matches } from "../../kernel/names/queue-pattern.ts";
import { slicesOf } from "../../kernel/slices.ts";
import { respond } from "../../respond.ts";
import { readQuery } from "../request/read.ts";
import { metricsQuery } from "../request-schemas/metrics.ts";
import type * as replies from "../response-schemas/metrics.ts";
import { reply } from "../responses/reply.ts";
import { contentTypeOf, formatOf, writeMetrics } from "../responses/open-metrics.ts";
import { queueMetrics, type Scrape } from "../responses/queue-metrics.ts";
import type { App, Services } from "../services.ts";

/** The most queues of one scrape. */
const MOST_QUEUES = 1_000;

/** How many commands a page of the registry costs. */
const PAGE_COMMANDS = 3;

/** How many queues are read in one request to Redis. */
const SLICE = 50;

/** Metrics of all queues for Prometheus, and the load of one queue for autoscalers. */
export function metricsRoutes(app: App, { transport, prefix, allow }: Services): void {
  app.get("/metrics", allow("view"), async (c) => {
    const { queues: pattern = "*" } = readQuery(c, metricsQuery);
    const grants = c.get("grants");
    const isWanted = (name: string) => matches(pattern, name) && grants.allows("view", name);
    const format = formatOf(c.req.header("accept"));
    const text = writeMetrics(queueMetrics(await scrape(isWanted)), format);
    return respond(text, 200, { "content-type": contentTypeOf(format) });
  });

  /** Reads the queues slice by slice, so that no request to Redis takes long. */
  async function scrape(isWanted: (name: string) => boolean): Promise<Scrape> {
    const { names, truncated, pages } = await queueNames(transport, isWanted, MOST_QUEUES, { prefix });
    const queues: Scrape["queues"][number][] = [];
    let commands = pages * PAGE_COMMANDS;
    for (const slice of slicesOf(names, SLICE)) {
      const found = await queueTotals(transport, slice, { prefix });
      const read = found.filter((one): one is QueueTotals => !("code" in one));
      commands = read.reduce((sum, one) => sum + one.commands, commands);
      // One command reads which partitions there are.
      if (read.some(({ partitions }) => partitions > 1)) commands++;
      queues.push(...found);
    }
    return { queues, truncated, commands };
  }

  app.get("/v1/queues/:queue/load", allow("view"), async (c) => {
    readQuery(c);
    const [found] = await queueOverviews(transport, [c.get("open").name], { prefix });
    if (!found || "code" in found) throw unreadable(found?.code);
    const { queue, pending, working, workers, paused, oldestAge, statistics } = found;
    const { enqueued, completed } = statistics.perMinute;
    const ready = paused ? 0 : pending;
    return reply<typeof replies.load>({
      queue,
      pending,
      working,
      paused,
      backlog: ready + working,
      workers,
      perWorker: ready / Math.max(1, workers),
      oldestAge: oldestAge ?? 0,
      perMinute: { enqueued, completed },
    });
  });
}

function unreadable(code: string | undefined): SluiceError {
  if (code === "newer_schema") return newerSchema("a record of the queue");
  return new SluiceError((code ?? "unexpected_reply") as SluiceErrorCode, "the queue could not be read");
}
