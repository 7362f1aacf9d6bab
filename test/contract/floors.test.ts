import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const root = fileURLToPath(new URL("../../", import.meta.url));

const base = [
  "src/base64.ts",
  "src/counted.ts",
  "src/signature.ts",
  "src/environment.ts",
  "src/errors.ts",
  "src/log",
  "src/nearest-name.ts",
  "src/optional-package.ts",
  "src/endable.ts",
  "src/sleep.ts",
  "src/bounded-body.ts",
  "src/retry.ts",
  "src/reopened.ts",
  "src/url.ts",
  "src/credentials.ts",
  "src/pick.ts",
  "src/port-in-use.ts",
  "src/respond.ts",
  "src/shell-quoted.ts",
];

/** What a feature imports to take part in a sweep, or to read the registry. */
const partOfSweep = ["part", "deep-part", "registry", "types"].map((file) => `src/sweep/${file}.ts`);

/** The features that are layers: a folder each. A feature imports the kernel, and no other feature. */
const features = globSync("src/features/*/", { cwd: root }).map((folder) => folder.replace(/\/$/, ""));

/**
 * What others import of a feature: its entry, and of partitions what is loaded on demand too. `offload` and tracing have
 * entries of the package, so others import their types.
 */
const ENTRY = /\/(?:index|(?:offload|tracing)\/types|partitions\/(?:operate|stored-maps|sweep-part))\.ts$/;

/** What composes queues and deployments. Only these import features. */
const entries = [
  "src/index.ts",
  "src/open",
  "src/deploy",
  "src/http",
  "src/qstash",
  "src/testing",
  "src/cli",
  "src/local",
  "serverless",
];

/** The calls of queues, and the scripts that they run. */
const kernel = [...base, "src/kernel", "src/lua"];

/** Queues with their layers. */
const opened = [...kernel, "src/operate", "src/sweep", "src/open"];

/** The parts of the project that each folder may import beside itself, from the lowest floor up. */
const floors: Record<string, readonly string[]> = {
  "src/environment.ts": ["src/errors.ts"],
  "src/pick.ts": [],
  "src/counted.ts": [],
  "src/port-in-use.ts": [],
  "src/errors.ts": [],
  "src/log": ["src/errors.ts"],
  "src/optional-package.ts": ["src/errors.ts"],
  "src/endable.ts": [],
  "src/sleep.ts": [],
  "src/respond.ts": [],
  "src/shell-quoted.ts": [],
  "src/nearest-name.ts": [],
  "src/base64.ts": [],
  "src/signature.ts": ["src/errors.ts", "src/base64.ts"],
  "src/bounded-body.ts": ["src/sleep.ts"],
  "src/retry.ts": ["src/errors.ts", "src/sleep.ts"],
  "src/reopened.ts": ["src/sleep.ts"],
  "src/url.ts": ["src/errors.ts"],
  "src/credentials.ts": ["src/errors.ts", "src/url.ts"],
  "src/redis-variables.ts": ["src/credentials.ts", "src/environment.ts", "src/kernel"],
  // Generated from lua/.
  "src/lua": ["src/kernel/transport.ts"],
  // It knows of no feature, and of nothing above it.
  "src/kernel": [...base, "src/lua"],
  ...Object.fromEntries(features.map((feature) => [feature, [...kernel, ...partOfSweep]])),
  // Alerts measure what operators see, of queues of which they have only the names.
  "src/features/alerts": [...kernel, ...partOfSweep, "src/operate", "src/features/partitions"],
  // A flow as a whole is operated by the scripts of operators.
  "src/features/flows": [...kernel, ...partOfSweep, "src/operate"],
  // Replays are records as others.
  "src/features/topics": [...kernel, ...partOfSweep, "src/operate"],
  // It knows of no feature that takes part in it.
  "src/sweep": [...kernel, "src/features/waking"],
  // Of schedules it counts what a pause has skipped.
  "src/operate": [...kernel, "src/sweep", "src/features/partitions", "src/features/schedules"],
  // Puts the layers of queues together, and opens queues with all of their options.
  "src/open": [...kernel, "src/operate", "src/sweep"],
  // Only the interface, whose file has only types, and the base of all floors.
  "src/transports": [...base, "src/redis-variables.ts", "src/kernel/transport.ts"],
  // A Redis in the process, and a transport to it.
  "src/embedded": [...base, "src/kernel/transport.ts", "src/transports"],
  "src/drain": [...kernel, "src/open"],
  "src/adapters": [...kernel, "src/drain", "src/features/waking"],
  // It does over HTTP what the queue does, and imports from the queue only what needs no Redis.
  "src/client": [
    ...base,
    "src/kernel",
    "src/features/encryption",
    "src/features/flows",
    "src/features/tracing/types.ts",
    "src/open",
    "src/sweep",
  ],
  "src/http": [...opened, "src/deploy/declared"],
  // QStash's API, of what deployments have.
  "src/qstash": [...opened, "src/drain", "src/http", "src/deploy/declared", "src/deploy/deployment-part.ts"],
  // The page, and the routes that serve it, which are loaded only where it is on.
  "src/dashboard": [...base, "src/kernel", "src/operate", "src/http", "src/features/flows/graph/index.ts"],
  "src/config.ts": [...opened, "src/redis-variables.ts", "src/http/auth"],
  // Queues that are declared in one place.
  "src/deploy/declared": [...opened, "src/redis-variables.ts", "src/drain"],
  "src/index.ts": [...opened, "src/drain", "src/adapters", "src/deploy/declared"],
  // The Worker of `npm start`, which the local stack runs and does not import.
  "src/local/complete-worker.ts": ["serverless", "src/dashboard", "src/http", "src/open"],
  "src/local": [...opened, "src/transports", "src/embedded", "src/http", "src/config.ts"],
  "src/cli": [
    ...opened,
    "src/redis-variables.ts",
    "src/transports",
    "src/drain",
    "src/client",
    "src/deploy",
    "src/http",
    "src/local",
    "src/config.ts",
    "serverless",
    "package.json",
  ],
  // Deployments and queues in the tests of users.
  "src/testing": [...opened, "src/drain", "src/client", "src/config.ts", "src/embedded", "src/deploy"],
  // What all platforms share.
  "src/deploy": [
    ...opened,
    "src/transports",
    "src/drain",
    "src/adapters",
    "src/http",
    "src/dashboard",
    "src/qstash",
    "src/config.ts",
  ],
  serverless: [...opened, "src/adapters", "src/drain", "src/deploy", "src/config.ts"],
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

  test.each(features)("%s is imported by its entries only", (feature) => {
    const beside = imports.filter(({ file, imported }) => {
      return under(imported, feature) && !under(file, feature) && !ENTRY.test(imported);
    });
    expect(beside.map(({ file, imported }) => `${file} imports ${imported}`)).toEqual([]);
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
    const outermost = ["serverless", "src/deploy", "src/local", "src/cli", "src/transports", "src/config.ts"];
    const wrong = globSync("src/**/*.ts", { cwd: root }).filter((file) => {
      if (outermost.some((place) => under(file, place))) return false;
      const code = readFileSync(join(root, file), "utf8").replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "");
      return /process\.env|\bupstash\(|\bresp\(/.test(code);
    });
    expect(wrong).toEqual([]);
  });
});
