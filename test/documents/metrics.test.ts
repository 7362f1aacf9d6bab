import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Operator, Queue } from "../../src/index.ts";
import { dollars } from "../../src/local/index.ts";
import { countCommands } from "../../src/operate/estimated-commands.ts";
import { type Answer, serve } from "../http/served.ts";
import { readMetrics, type ReadFamily } from "../support/open-metrics.ts";

// The page on metrics names only what the routes return, and its costs are those of the budget.

const page = readFileSync(new URL("../../docs/metrics.md", import.meta.url), "utf8");
const section = (title: string) => page.split(`# ${title}\n`)[1]?.split(/\n#+ /)[0] ?? "";
const rowsOf = (title: string) =>
  Array.from(section(title).matchAll(/^\| (.*) \|$/gm), ([, row = ""]) => row.split(" | ")).slice(1);
const blockOf = (title: string, language: string) =>
  new RegExp(`\`\`\`${language}\n([\\s\\S]*?)\`\`\``).exec(section(title))?.[1] ?? "";

let served: Awaited<ReturnType<typeof serve>>;
let families: Map<string, ReadFamily>;
let load: Answer["body"];
let paths: readonly string[];
beforeAll(async () => {
  served = await serve();
  const { transport, ask } = served;
  await transport.send([["FLUSHALL"]]);
  await transport.send([["HSET", "sluice:{newer}:tasks", "~set", "3;p=1"]]);
  await transport.send([["ZADD", "sluice:queues", "1", "newer"]]);
  await new Operator("emails", { transport }).configure({ statistics: true });
  await new Queue("emails", { transport }).enqueue(1);
  families = readMetrics((await ask("GET", "/metrics")).body, "openmetrics");
  load = (await ask("GET", "/v1/queues/emails/load")).body;
  paths = served.app.routes.map(({ path }) => path);
});
afterAll(() => served.stop());

/** The value at a path of the form `a.b`, as GJSON reads it. */
const valueAt = (value: unknown, path: string) =>
  path.split(".").reduce((part, key) => (part as Record<string, unknown>)[key], value);

const isRoute = (path: string) =>
  paths.some((route) => new RegExp(`^${route.replaceAll(/:\w+/g, "[^/]+")}$`).test(path));

describe("docs/metrics.md", () => {
  test("has a row for each metric, with its type, and no other", () => {
    const shown = rowsOf("Prometheus").filter(([name]) => name?.startsWith("`sluice"));
    expect(shown.map(([name, type]) => [name?.slice(1, -1), type])).toEqual(
      [...families].map(([name, { type }]) => [type === "counter" ? `${name}_total` : name, type]),
    );
  });

  test("uses in queries only metrics that are there, with labels and values that they have", () => {
    const samples = [...families.values()].flatMap((family) => family.samples.map(([name]) => name));
    const queries = rowsOf("Queries").flatMap(
      ([, query = ""]) => query.match(/sluice_\w+(?:\{[^}]*\})?/g) ?? [],
    );
    expect(queries.length).toBeGreaterThan(10);
    const unknown = queries.filter((query) => {
      const [name = "", labels = ""] = query.split("{");
      const label = labels.replace("}", "").replace("!=", "=");
      return !samples.some((sample) => sample.split("{")[0] === name && sample.includes(label));
    });
    expect(unknown).toEqual([]);
  });

  test("says what a scrape costs", () => {
    const empty = { queue: "q", oldestAge: null, nextDueAt: null, broken: 0, workers: 0, paused: false };
    const idle = { ...empty, stoppedGroups: 0, pending: 0, delayed: 0, working: 0, rejected: 0 };
    const busy = countCommands({ ...idle, pending: 1, delayed: 1, working: 1 });
    const row = (name: string, inUse: number, unused: number) => {
      const commands = 3 + inUse * busy + unused * countCommands(idle);
      const cost = (seconds: number) => dollars(commands * ((30 * 86_400) / seconds)).toFixed(2);
      return [name, String(commands), cost(15), cost(60), cost(300)];
    };
    expect(rowsOf("What a scrape costs")).toEqual([
      row("1 in use", 1, 0),
      row("10 in use", 10, 0),
      row("10 in use, 90 empty", 10, 90),
    ]);
  });

  test("has a row for each field of the load, all of which autoscalers can read", () => {
    const fields = rowsOf("Autoscaling").flatMap(([names = ""]) =>
      Array.from(names.matchAll(/`(\w+)`/g), ([, name = ""]) => name),
    );
    expect(["queue", ...fields].toSorted()).toEqual(Object.keys(load).toSorted());
    expect(Object.entries(load).filter(([, value]) => value === null)).toEqual([]);
  });

  test("reads in each example a number of a route that there is", () => {
    const keda = blockOf("KEDA", "yaml");
    const setting = (yaml: string, name: string) => new RegExp(`${name}: "?([^"\n]+)`).exec(yaml)?.[1] ?? "";
    expect(valueAt(load, setting(keda, "valueLocation"))).toBe(1);
    expect(isRoute(new URL(setting(keda, "url")).pathname)).toBe(true);
    expect(isRoute(setting(blockOf("Prometheus", "yaml"), "metrics_path"))).toBe(true);
  });
});
