import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

const base = [
  "src/environment.ts",
  "src/errors.ts",
  "src/optional-package.ts",
  "src/endable.ts",
  "src/sleep.ts",
  "src/bounded-body.ts",
  "src/retry.ts",
  "src/url.ts",
  "src/credentials.ts",
  "src/pick.ts",
  "src/port-in-use.ts",
  "src/respond.ts",
];
const queue = (...folders: readonly string[]) => folders.map((folder) => `src/queue/${folder}`);

/** What a feature imports to take part in a sweep: types. */
const partOfSweep = ["part", "deep-part", "registry", "types"].map((file) => `src/sweep/${file}.ts`);

/** What the kernel still imports of the folders that it takes the place of. */
const belowKernel = queue("core", "redis", "tasks", "values");

/** The features that are layers: a folder each. A feature imports the kernel, and no other feature. */
const features = globSync("src/features/*/", { cwd: root }).map((folder) => folder.replace(/\/$/, ""));

/** What composes queues and deployments. Only these import features. */
const entries = [
  "src/index.ts",
  "src/sweep-parts.ts",
  "src/deep-sweep",
  "src/open",
  "src/deploy",
  "src/http",
  "src/testing",
  "src/cli",
  "serverless",
];

/** Queues with their layers. */
const opened = ["src/kernel", "src/queue", "src/open", "src/sweep", "src/deep-sweep"];

/** The parts of the project that each folder may import beside itself, from the lowest floor up. */
const floors: Record<string, readonly string[]> = {
  "src/kernel": [...base, ...belowKernel],
  ...Object.fromEntries(
    features.map((feature) => [feature, [...base, "src/kernel", ...belowKernel, ...partOfSweep]]),
  ),
  "src/environment.ts": ["src/errors.ts"],
  "src/pick.ts": [],
  "src/port-in-use.ts": [],
  "src/errors.ts": [],
  "src/optional-package.ts": ["src/errors.ts"],
  "src/endable.ts": [],
  "src/sleep.ts": [],
  "src/respond.ts": [],
  "src/bounded-body.ts": ["src/sleep.ts"],
  "src/retry.ts": ["src/errors.ts", "src/sleep.ts"],
  "src/url.ts": ["src/errors.ts"],
  "src/credentials.ts": ["src/errors.ts", "src/url.ts"],
  "src/queue/core": ["src/errors.ts"],
  "src/redis-variables.ts": ["src/credentials.ts", "src/environment.ts", ...queue("core")],
  "src/queue/redis": [...base, ...queue("core")],
  "src/queue/values": [...base, "src/kernel", ...belowKernel, "src/sweep/part.ts"],
  "src/queue/partitions": [...base, "src/kernel", ...belowKernel, ...partOfSweep],
  "src/queue/tasks": [...base, "src/kernel", ...belowKernel],
  // It knows of no feature that takes part in it.
  "src/sweep": [...base, "src/kernel", "src/features/waking", ...belowKernel],
  // They give the sweep its parts: at once, or on demand.
  "src/sweep-parts.ts": [...queue("values", "partitions"), "src/sweep"],
  "src/sweep.ts": ["src/sweep-parts.ts", ...queue("redis", "values"), "src/sweep"],
  "src/queue/operate": [...base, "src/kernel", ...belowKernel, "src/queue/partitions", "src/sweep"],
  // The deep sweep with the parts of features.
  "src/deep-sweep": queue("redis", "partitions"),
  // Puts the layers of queues together, and opens queues with all of their options.
  "src/open": [...base, ...opened],
  // Only the interface, whose file has only types, and the base of all floors.
  "src/transport": [...base, "src/redis-variables.ts", "src/queue/redis/transport.ts"],
  // A Redis in the process, and a transport to it.
  "src/embedded": [...base, "src/queue/redis/transport.ts", "src/transport"],
  "src/consumer": [...base, "src/kernel", "src/features/waking", "src/open", ...belowKernel],
  // The option `offload`. Only tests of users import it.
  "src/offload": [...base, "src/kernel", ...belowKernel, ...queue("partitions")],
  // The option `tracing`, by OpenTelemetry. Nothing imports it.
  "src/tracing": ["src/errors.ts", ...queue("core")],
  "src/alerts": [...base, "src/queue", "src/sweep", "src/consumer"],
  // It does over HTTP what the queue does, and imports from the queue only what needs no Redis.
  "src/client": [...base, ...queue("core", "values", "tasks"), "src/open", "src/sweep"],
  "src/http": [...base, ...opened, "src/sweep-parts.ts", "src/deploy/declared"],
  // The page, and the routes that serve it, which are loaded only where it is on.
  "src/dashboard": [...base, ...queue("core", "operate"), "src/http"],
  "src/config.ts": [...base, "src/redis-variables.ts", "src/queue", "src/consumer", "src/http/auth"],
  // Queues that are declared in one place.
  "src/deploy/declared": [...base, "src/redis-variables.ts", ...opened, "src/consumer"],
  "src/index.ts": [...base, ...opened, "src/sweep.ts", "src/consumer", "src/deploy/declared"],
  // The Worker of `npm start`, which the local stack runs and does not import.
  "src/local/complete-worker.ts": ["serverless", "src/dashboard", "src/http", "src/deep-sweep"],
  "src/local": [
    ...base,
    "src/queue",
    "src/features/schedules",
    "src/sweep",
    "src/transport",
    "src/embedded",
    "src/http",
    "src/config.ts",
  ],
  "src/cli": [
    ...base,
    "src/redis-variables.ts",
    "src/queue",
    "src/sweep",
    "src/transport",
    "src/consumer",
    "src/client",
    "src/deploy/declared",
    "src/http",
    "src/local",
    "src/deploy",
    "src/config.ts",
    "serverless",
    "package.json",
  ],
  // Deployments and queues in the tests of users.
  "src/testing": [
    ...base,
    ...opened,
    "src/sweep-parts.ts",
    "src/consumer",
    "src/deploy/declared",
    "src/client",
    "src/config.ts",
    "src/embedded",
    "src/offload",
    "src/deploy",
  ],
  // What all platforms share.
  "src/deploy": [
    ...base,
    "src/alerts",
    ...opened,
    "src/sweep-parts.ts",
    "src/transport",
    "src/consumer",
    "src/deploy/declared",
    "src/http",
    "src/dashboard",
    "src/config.ts",
  ],
  serverless: [...base, "src/queue", "src/deploy", "src/config.ts"],
};

const under = (file: string, place: string) => file === place || file.startsWith(`${place}/`);
const floorOf = (file: string) => Object.keys(floors).find((place) => under(file, place));

/** Every import of one project file by another, type imports too. */
const imports = globSync(["src/**/*.ts", "serverless/**/*.ts"], { cwd: root }).flatMap((file) => {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)].map(([, path]) => ({
    file,
    imported: relative(root, join(root, dirname(file), path ?? "")),
  }));
});

describe("imports go downward only", () => {
  test("every source file belongs to a floor", () => {
    expect(
      globSync(["src/**/*.ts", "serverless/**/*.ts"], { cwd: root }).filter((file) => !floorOf(file)),
    ).toEqual([]);
    expect(imports.length).toBeGreaterThan(100);
  });

  test("no file imports from a floor above or beside its own", () => {
    const wrong = imports.filter(({ file, imported }) => {
      const floor = floorOf(file) ?? "";
      if (under(imported, "src/features") && entries.some((entry) => under(file, entry))) return false;
      return ![floor, ...(floors[floor] ?? [])].some((place) => under(imported, place));
    });
    expect(wrong.map(({ file, imported }) => `${file} imports ${imported}`)).toEqual([]);
  });

  test.each(features)("%s is imported by one of its files only: its entry", (feature) => {
    const fromOutside = imports.filter(
      ({ file, imported }) => under(imported, feature) && !under(file, feature),
    );
    expect(new Set(fromOutside.map(({ imported }) => imported)).size).toBeLessThanOrEqual(1);
  });

  test("no files import each other in a circle, not even types", () => {
    const settled = new Set<string>();
    const circles: string[] = [];
    const visit = (file: string, path: readonly string[]) => {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(" -> "));
      if (path.includes(file) || settled.has(file)) return;
      for (const { imported } of imports.filter((one) => one.file === file)) visit(imported, [...path, file]);
      settled.add(file);
    };
    for (const { file } of imports) visit(file, []);
    expect(circles).toEqual([]);
  });

  test("only the outermost floors construct transports or read the environment", () => {
    const outermost = ["serverless", "src/deploy", "src/local", "src/cli", "src/transport", "src/config.ts"];
    const wrong = globSync("src/**/*.ts", { cwd: root }).filter((file) => {
      if (outermost.some((place) => under(file, place))) return false;
      const code = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
      return /process\.env|\bupstash\(|\bresp\(/.test(code);
    });
    expect(wrong).toEqual([]);
  });
});
