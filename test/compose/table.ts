// Which feature is tested through which front. `node test/compose/main.ts` prints it.

export const featureNames = [
  "partitions",
  "encryption",
  "offload",
  "groups",
  "maxWorking",
  "rate",
  "schedules",
  "wake",
  "tracing",
  "prefix",
] as const;

export const frontNames = [
  "library",
  "http",
  "client",
  "cloudflare",
  "vercel",
  "lambda",
  "netlify",
  "node",
  "deno",
  "bun",
  "testDouble",
  "commandLine",
] as const;

export type FeatureName = (typeof featureNames)[number];
export type FrontName = (typeof frontNames)[number];

/** `runs`, or why the front does not have the feature. */
type Cell = "runs" | { readonly without: string };
type Row = Readonly<Record<FrontName, Cell>>;

const runs = {
  library: "runs",
  http: "runs",
  client: "runs",
  cloudflare: "runs",
  vercel: "runs",
  lambda: "runs",
  netlify: "runs",
  node: "runs",
  deno: "runs",
  bun: "runs",
  testDouble: "runs",
  commandLine: "runs",
} as const satisfies Row;

export const table: Readonly<Record<FeatureName, Row>> = {
  partitions: runs,
  encryption: {
    ...runs,
    http: { without: "Callers encrypt: the server has no keys. The client does so." },
    commandLine: { without: "It has no keys, and shows encrypted values as such." },
  },
  offload: {
    ...runs,
    commandLine: { without: "It reaches the store only through a deployment." },
  },
  groups: runs,
  maxWorking: runs,
  rate: runs,
  schedules: runs,
  wake: {
    ...runs,
    commandLine: { without: "It has no consumer to wake, and says so after an enqueue." },
  },
  tracing: {
    ...runs,
    http: { without: "Callers trace what they pull. The client does so." },
    commandLine: { without: "It has no option for traces." },
  },
  prefix: runs,
};

/** The table for a reader: a row for each feature, then the reasons. */
export function printed(): string {
  const width = Math.max(...featureNames.map((name) => name.length));
  const line = (first: string, cells: readonly string[]) =>
    [first.padEnd(width), ...cells.map((cell, i) => cell.padEnd((frontNames[i] ?? "").length))]
      .join("  ")
      .trimEnd();
  const reasons: string[] = [];
  const rows = featureNames.map((feature) =>
    line(
      feature,
      frontNames.map((front) => {
        const cell = table[feature][front];
        if (cell === "runs") return cell;
        reasons.push(`${feature} × ${front}: ${cell.without}`);
        return "-";
      }),
    ),
  );
  return [line("", frontNames), ...rows, "", ...reasons].join("\n");
}
