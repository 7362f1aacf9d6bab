import { operations } from "../../src/http/operations/index.ts";
import { describe, expect, it } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { formatOf, writeMetrics } from "../../src/http/responses/open-metrics.ts";
import { registryKey } from "../../src/kernel/names/keys.ts";
import { resp } from "../../src/transports/resp.ts";
import { readMetrics } from "../support/open-metrics.ts";
import { asker, expectProblem, servedQueue, tokens } from "./served.ts";

const { ask, queue, redis, path, makeNewer, enqueue, settle, receipts } = servedQueue();

/** The samples of the queue, by name and labels without the queue. */
async function scraped(query = `?queues=${queue()}`, accept?: string) {
  const headers: Record<string, string> = accept === undefined ? {} : { accept };
  const { status, headers: answered, body } = await ask("GET", `/metrics${query}`, { headers });
  expect(status).toBe(200);
  const type = answered.get("content-type");
  const families = readMetrics(body, type?.startsWith("text/plain") ? "prometheus" : "openmetrics");
  const samples = [...families.values()].flatMap((family) => family.samples);
  return { type, families, samples: Object.fromEntries(samples), body: body as string };
}

const own = (name: string, labels = "") => `${name}{queue="${queue()}"${labels}}`;
const labelled = (name: string, label: string, values: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(values).map(([value, count]) => [own(name, `,${label}="${value}"`), count]),
  );

describe("GET /metrics", () => {
  it("has the counts of a queue, and no counters if the queue keeps no statistics", async () => {
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2 }, { payload: 3, delay: "1h" }] });
    await receipts();
    const { type, samples } = await scraped();
    expect(type).toBe("application/openmetrics-text; version=1.0.0; charset=utf-8");
    expect(samples).toEqual({
      ...labelled("sluice_queue_tasks", "state", {
        pending: 1,
        delayed: 1,
        blocked: 0,
        working: 1,
        rejected: 0,
      }),
      [own("sluice_queue_oldest_age_seconds")]: expect.any(Number),
      [own("sluice_queue_workers")]: 0,
      [own("sluice_queue_paused")]: 0,
      [own("sluice_queue_stopped_groups")]: 0,
      [own("sluice_queue_broken_entries")]: 0,
      sluice_scrape_truncated: 0,
      sluice_scrape_commands: 3 + 13,
    });
  });

  it("has counters and histograms of a queue that keeps statistics", async () => {
    await ask("PATCH", `${path()}/settings`, { json: { statistics: true } });
    await enqueue({ tasks: [{ payload: 1 }, { payload: 2, maxAttempts: 1 }, { payload: 3 }] });
    const [first, second] = await receipts({ max: 2, worker: { name: "w" } });
    await settle({ receipt: first, outcome: "complete" }, { receipt: second, outcome: "reject" });
    await ask("POST", `${path()}/pause`);
    const { samples, families } = await scraped();
    const { totals } = (await ask("GET", `${path()}/statistics`)).body;
    expect(samples).toMatchObject({
      [own("sluice_queue_workers")]: 1,
      [own("sluice_queue_paused")]: 1,
      [own("sluice_tasks_enqueued_total")]: 3,
      [own("sluice_tasks_dequeued_total")]: 2,
      ...labelled("sluice_tasks_ended_total", "state", { completed: 1, rejected: 1, cancelled: 0 }),
      [own("sluice_tasks_requeued_total")]: 0,
      [own("sluice_tasks_reclaimed_total")]: 0,
      [own("sluice_tasks_redriven_total")]: 0,
      [own("sluice_task_attempts_total")]: 2,
      ...labelled("sluice_calls_total", "kind", { enqueue: 1, dequeue: 1, settle: 1, other: 0 }),
      [own("sluice_commands_total")]: 5 + 6 + 6,
      [own("sluice_task_wait_seconds_count")]: 2,
      [own("sluice_task_wait_seconds_sum")]: totals.waits.total / 1_000,
      [own("sluice_task_wait_seconds_bucket", ',le="+Inf"')]: 2,
      [own("sluice_task_wait_seconds_bucket", ',le="0.01"')]: totals.waits.classes[0],
      [own("sluice_task_wait_seconds_bucket", ',le="3000.0"')]: 2,
      [own("sluice_task_run_seconds_count")]: 2,
      [own("sluice_task_run_seconds_sum")]: totals.runs.total / 1_000,
    });
    expect(families.get("sluice_task_wait_seconds")).toMatchObject({ type: "histogram", unit: "seconds" });
    expect(families.get("sluice_commands")?.help).toMatch(/^Estimate /);
  });

  it("is the older text for a caller that accepts only text/plain", async () => {
    await ask("PATCH", `${path()}/settings`, { json: { statistics: true } });
    await enqueue({ payload: 1 });
    const [open, plain] = [await scraped(), await scraped(undefined, "text/plain")];
    expect(plain.type).toBe("text/plain; version=0.0.4; charset=utf-8");
    expect(Object.keys(plain.samples)).toEqual(Object.keys(open.samples));
    expect(plain.families.get("sluice_tasks_enqueued_total")?.type).toBe("counter");
    expect(plain.body).not.toMatch(/# (?:EOF|UNIT)/);
  });

  it.each([
    [undefined, "openmetrics"],
    ["*/*", "openmetrics"],
    ["text/html,application/xhtml+xml,*/*;q=0.8", "openmetrics"],
    [
      "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
      "openmetrics",
    ],
    ["text/plain;version=0.0.4", "prometheus"],
    ["Text/Plain, */*;q=0.1", "prometheus"],
  ])("answers Accept: %s with %s", (accept, format) => {
    expect(formatOf(accept)).toBe(format);
  });

  it("has only the queues that match the pattern and the token", async () => {
    for (const name of ["mails-1", "mails-2", "bills"])
      await ask("POST", `/v1/queues/${name}/tasks`, { json: { payload: 1 } });
    const shown = async (query: string, as: "all" | "mails") => {
      const { body } = await ask("GET", `/metrics${query}`, { as });
      const paused = readMetrics(body, "openmetrics").get("sluice_queue_paused")?.samples ?? [];
      return paused.map(([name]) => /"(.*)"/.exec(name)?.[1]).filter((name) => !/^q\d/.test(name ?? ""));
    };
    expect(await shown("", "all")).toEqual(["bills", "mails-1", "mails-2"]);
    expect(await shown("", "mails")).toEqual(["mails-1", "mails-2"]);
    expect(await shown("?queues=*s-2", "mails")).toEqual(["mails-2"]);
    expect(await shown("?queues=bills", "mails")).toEqual([]);
    const { errors } = expectProblem(await ask("GET", "/metrics?queues=a,b"), "invalid_request");
    const message = "must be a pattern of queue names, such as emails, emails-* or *";
    expect(errors).toEqual([{ path: "queues", message }]);
  });

  it("has a queue that cannot be read with the reason", async () => {
    await enqueue({ payload: 1 });
    await makeNewer();
    const { samples } = await scraped();
    expect(samples).toEqual({
      [own("sluice_queue_unreadable", ',code="newer_schema"')]: 1,
      sluice_scrape_truncated: 0,
      sluice_scrape_commands: 3,
    });
  });

  it("reads at most 1,000 queues, 50 in a request, and says so", async () => {
    const client = resp(redis().url);
    let requests = 0;
    const transport = {
      send: (...args: Parameters<typeof client.send>) => (requests++, client.send(...args)),
    };
    const counting = asker((request) =>
      createApp({ operations, transport, tokens, prefix: "many" }).fetch(request),
    );
    const scrape = async () => {
      requests = 0;
      const { body } = await counting("GET", "/metrics");
      const families = readMetrics(body, "openmetrics");
      const value = (name: string) => families.get(name)?.samples[0]?.[1];
      return {
        queues: families.get("sluice_queue_paused")?.samples.length ?? 0,
        truncated: value("sluice_scrape_truncated"),
        commands: value("sluice_scrape_commands"),
        requests,
      };
    };
    const register = (from: number, to: number) => {
      const entries = Array.from({ length: to - from }, (_, i) => ["1", `q${from + i}`]);
      return client.send([["ZADD", registryKey("many"), ...entries.flat()]]);
    };
    expect(await scrape()).toEqual({ queues: 0, truncated: 0, commands: 3, requests: 1 });
    await register(0, 100);
    expect(await scrape()).toEqual({ queues: 100, truncated: 0, commands: 3 + 400, requests: 1 + 2 });
    await register(100, 3_000);
    const { requests: sent, commands, ...rest } = await scrape();
    expect(rest).toEqual({ queues: 1_000, truncated: 1 });
    expect(sent).toBeLessThan(2 + 20 + 2);
    expect(commands).toBe(4_000 + 3 * (sent - 20));
    await client.close();
  });
});

describe("the text of metrics", () => {
  const samples = [{ labels: { queue: 'b"\\\n' }, value: 0.5 }];
  const family = { name: "a", type: "gauge", help: 'a "word" \\ and\na line', samples } as const;

  it.each([
    ["openmetrics", String.raw`\"word\" \\ and`, "# EOF\n"],
    ["prometheus", String.raw`"word" \\ and`, ""],
  ] as const)("escapes labels and help: %s", (format, words, end) => {
    const sample = String.raw`a{queue="b\"\\\n"} 0.5`;
    const help = String.raw`# HELP a a ${words}\na line`;
    expect(writeMetrics([family], format)).toBe(`# TYPE a gauge\n${help}\n${sample}\n${end}`);
  });

  it("leaves out a family without samples", () => {
    expect(writeMetrics([{ ...family, samples: [] }], "openmetrics")).toBe("# EOF\n");
  });

  it.each([
    ['a{b="c"} 1\n# EOF\n', "not a line of the format"],
    ["# TYPE a gauge\na 1\na 2\n# EOF\n", "a sample twice"],
    ["# TYPE a counter\na 1\n# EOF\n", "a sample of another family"],
    ["# TYPE a gauge\na 1\n# HELP a b\n# EOF\n", "metadata behind samples"],
    ["# TYPE a gauge\na 1\n", "no EOF at the end"],
    ['# TYPE a histogram\na_bucket{le="1.0"} 2\na_bucket{le="+Inf"} 1\n# EOF\n', "a wrong bucket"],
  ])("is refused by the strict reader of these tests if it breaks a rule: %j", (text, why) => {
    expect(() => readMetrics(text, "openmetrics")).toThrow(why);
  });
});
