// Which feature is tested through which front. `node test/compose/table.ts` prints it.

const featureNames = [
  "partitions",
  "encryption",
  "offload",
  "groups",
  "order",
  "maxWorking",
  "rate",
  "pause",
  "schedules",
  "debounce",
  "pushed",
  "flows",
  "fallen",
  "batches",
  "topics",
  "endpoints",
  "sealedFlows",
  "wake",
  "tracing",
  "defaults",
  "prefix",
  "health",
  "search",
  "bulk",
  "events",
  "logger",
] as const;

export const frontNames = [
  "library",
  "http",
  "client",
  "cloudflare",
  "vercel",
  "next",
  "lambda",
  "netlify",
  "node",
  "mounted",
  "deno",
  "bun",
  "testDouble",
  "commandLine",
] as const;

export type FeatureName = (typeof featureNames)[number];
export type FrontName = (typeof frontNames)[number];

/** Why a front does not have a feature. All others have it. */
const without: Readonly<Partial<Record<FeatureName, Partial<Record<FrontName, string>>>>> = {
  encryption: {
    http: "Callers encrypt: the server has no keys. The client does so.",
    commandLine: "It has no keys, and shows encrypted values as such.",
  },
  defaults: {
    http: "Its server knows no declarations. A deployment, which does, adds them.",
    commandLine: "It knows only the name of the queue. A deployment adds them.",
  },
  health: { client: "It has no calls of operators." },
  search: { client: "It has no calls of operators." },
  bulk: {
    client: "It has no calls of operators.",
    commandLine: "It calls for each id. test/cli/operating has what it does.",
  },
  logger: {
    library: "It has no log: a drain calls onFailure.",
    http: "It runs no handlers. test/http/problems has what it logs.",
    client: "It has no log.",
    commandLine: "It prints for people.",
  },
  sealedFlows: {
    http: "Callers encrypt: the server has no keys. The client does so.",
    commandLine: "It has no keys.",
  },
  pushed: {
    http: "It runs no handlers of the library.",
    commandLine: "It runs no handlers of the library.",
  },
  endpoints: {
    client: "It has no calls of endpoints.",
    commandLine: "It sends no events. test/cli/endpoints has what it does.",
  },
  batches: { commandLine: "It has no call for what a task waited for." },
  offload: { commandLine: "It reaches the store only through a deployment." },
  wake: { commandLine: "It has no consumer to wake, and says so after an enqueue." },
  tracing: {
    http: "Callers trace what they pull. The client does so.",
    commandLine: "It has no option for traces.",
  },
};

/** Each feature, with the fronts that have it. */
export const table = featureNames.map((feature) => {
  const fronts = frontNames.filter((front) => without[feature]?.[front] === undefined);
  return [feature, fronts] as const;
});

if (import.meta.main) {
  const rows = table.map(([feature, fronts]) => {
    const cells = frontNames.map((front) => [front, fronts.includes(front) ? "runs" : "-"]);
    return [feature, Object.fromEntries(cells)];
  });
  console.table(Object.fromEntries(rows));
  for (const [feature, reasons] of Object.entries(without))
    for (const [front, reason] of Object.entries(reasons)) console.log(`${feature} × ${front}: ${reason}`);
}
