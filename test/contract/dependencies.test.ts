import { globSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { notInstalled, type OptionalPackage } from "../../src/optional-package.ts";
import {
  closure,
  importsOfEntries,
  nameOf,
  pageWithList,
  peersOf,
  readLock,
  type LockEntry,
} from "../../tools/licences.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (file: string) => readFileSync(join(root, file), "utf8");

type Manifest = LockEntry & {
  readonly license?: string;
  readonly scripts?: Readonly<Record<string, string>>;
  readonly bundleDependencies?: readonly string[];
};
const manifestOf = (folder: string) => JSON.parse(read(join(folder, "package.json"))) as Manifest;

const ALLOWED = ["MIT", "ISC", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "0BSD"];
const lock = readLock();
const own = lock[""] as LockEntry;
const page = read("notes/dependencies.md");
const peers = peersOf(own);
/** The packages of an installation, with all optional peers. */
const installed = [...closure(Object.keys({ ...own.dependencies, ...peers }), lock)];

describe("each package of an installation", () => {
  test("is listed with version and licence, and with the entries that load it", async () => {
    expect(await pageWithList(page)).toBe(page);
    const listed = installed.map((place) => `| ${nameOf(place)} | ${lock[place]?.version} |`);
    expect(listed.filter((row) => !page.includes(`\n${row}`))).toEqual([]);
  });

  test("has a reason if the project itself asks for it", () => {
    const [, section = ""] = /^## Why each is there\n([\s\S]*?)^## /m.exec(page) ?? [];
    const reasons = Array.from(section.matchAll(/^\| `([^`]+)` \| (.{20,}) \| .+ \|$/gm), ([, name]) => name);
    expect(new Set(reasons)).toEqual(new Set(Object.keys({ ...own.dependencies, ...peers })));
  });

  test("is under an allowed licence, which is the one of the installed package", () => {
    const licences = installed.map((place) => [place, lock[place]?.license, manifestOf(place).license]);
    expect(
      licences.filter(([, locked, reported]) => locked !== reported || !ALLOWED.includes(locked ?? "")),
    ).toEqual([]);
  });

  test("runs no script when it is installed, and bundles no other package", () => {
    const running = installed.filter((place) => {
      const { scripts = {}, bundleDependencies = [] } = manifestOf(place);
      const scripted = ["preinstall", "install", "postinstall"].some((name) => name in scripts);
      const native = readdirSync(join(root, place)).includes("binding.gyp");
      return lock[place]?.hasInstallScript === true || scripted || native || bundleDependencies.length > 0;
    });
    expect(running).toEqual([]);
  });

  test("is the only code that the published code imports: no development tool is bundled", async () => {
    const imports = await importsOfEntries();
    expect(imports.size).toBeGreaterThan(10);
    const strange = [...imports].flatMap(([entry, names]) =>
      names
        .filter((name) => !(name in { ...own.dependencies, ...peers }))
        .map((name) => `${entry} imports ${name}`),
    );
    expect(strange).toEqual([]);
    // A client with only a token gets no code but this project's.
    expect(imports.get("client")).toEqual([]);
  });
});

describe("an optional peer", () => {
  test("is marked as one, and accepts the releases from the tested one up to the next major", () => {
    // Applications pin it for all that they trace. It has had the same interface since 1.9.0.
    const earlier: Readonly<Record<string, string>> = { "@opentelemetry/api": "1.9.0" };
    const tested = Object.keys(peers).map((name) => {
      return [name, `^${earlier[name] ?? manifestOf("").devDependencies?.[name]}`];
    });
    // An application with Next.js has it. `after` is stable since 15.1.
    tested.push(["next", ">=15.1.0"]);
    expect(manifestOf("").peerDependencies).toEqual(Object.fromEntries(tested));
    const optional = tested.map(([name]) => [name, { optional: true }]);
    expect(manifestOf("").peerDependenciesMeta).toEqual(Object.fromEntries(optional));
  });

  test("is imported only by the entries that need it; by servers and the local stack at first use", async () => {
    const found = [...(await importsOfEntries("dynamic-import"))].map(([entry, names]) => [
      entry,
      names.filter((name) => name in peers),
    ]);
    expect(Object.fromEntries(found.filter(([, names]) => names?.length))).toEqual({
      resp: ["@redis/client"],
      deno: ["@redis/client"],
      bun: ["@redis/client"],
      node: ["@hono/node-server", "@redis/client"],
      local: ["@redis/client"],
      cli: ["@hono/node-server", "@redis/client"],
    });
    const atStart = [...(await importsOfEntries("import-statement"))].flatMap(([entry, names]) =>
      names.filter((name) => name in peers).map((name) => `${entry} imports ${name}`),
    );
    expect(atStart).toEqual(["opentelemetry imports @opentelemetry/api"]);
  });

  test("is installed, in docs and errors, in the major version that the package accepts", () => {
    const texts = globSync(
      ["README.md", "{docs,notes,examples,serverless}/**/*.{md,json}", "**/Dockerfile"],
      {
        cwd: root,
        exclude: ["node_modules"],
      },
    ).map((file) => [file, read(file)] as const);
    const reported = texts.flatMap(([file, text]) =>
      Array.from(text.matchAll(/(@redis\/client|@hono\/node-server)@(\d+)/g), ([, name = "", major]) => ({
        file,
        name,
        range: `^${major}`,
      })),
    );
    expect(reported.length).toBeGreaterThan(10);
    expect(reported.filter(({ name, range }) => peers[name]?.split(".")[0] !== range)).toEqual([]);
    // It is imported at the start, so the runtime itself reports it.
    const { "@opentelemetry/api": _, ...lazy } = peers;
    for (const [name, range] of Object.entries(lazy)) {
      const { message } = notInstalled("It", [name as OptionalPackage]);
      expect(message).toBe(
        `It needs ${name}, which is not installed; add it: npm install ${name}@${range.slice(1).split(".")[0]}`,
      );
    }
  });
});

// The root, and the folders whose packages only some commands need.
const folders = globSync("{.,tools/*,test/*,test/platforms/*}/package-lock.json", { cwd: root }).map(dirname);

describe.each(folders)("the lock file of %s", (folder) => {
  const locked = readLock(folder);

  test("has exactly the versions that the folder asks for", () => {
    const workspaces = Object.keys(locked).filter((place) => /^tools\/[^/]+$/.test(place));
    const loose = ["", ...workspaces].flatMap((place) => {
      const { dependencies, devDependencies, optionalDependencies } = manifestOf(join(folder, place));
      const asked = { ...dependencies, ...devDependencies, ...optionalDependencies };
      return Object.entries(asked).filter(([name, given]) => {
        // Under another name, such as a second major version.
        const version = given.replace(/^npm:[^@]+@/, "");
        return (
          !/^\d+\.\d+\.\d+(?:-[\w.]+)?$/.test(version) || locked[`node_modules/${name}`]?.version !== version
        );
      });
    });
    expect(loose).toEqual([]);
    expect(locked[""]?.dependencies).toEqual(manifestOf(folder).dependencies);
  });

  test("has a SHA-512 of everything that comes from the registry, and nothing comes from elsewhere", () => {
    const others = Object.entries(locked).filter(([place, entry]) => {
      // Except the project, its workspaces, and bundled packages, which another package's hash covers.
      if (!place.includes("node_modules/") || entry.link || entry.inBundle) return false;
      return entry.resolved !== undefined || !/^sha512-[\w+/]{86}==$/.test(entry.integrity ?? "");
    });
    expect(others.map(([place]) => place)).toEqual([]);
  });
});

test("few packages are installed for `npm test`, and fewer for `npm start`", () => {
  expect(folders.length).toBeGreaterThan(8);
  const all = Object.keys(lock).filter((place) => place !== "");
  expect(all.length).toBeLessThanOrEqual(260);
  const isForStart = ({ dev, devOptional, optional }: LockEntry) => !dev && !devOptional && !optional;
  const forStart = all.filter((place) => isForStart(lock[place] as LockEntry));
  expect(forStart.length + Object.keys(readLock("tools/workerd")).length - 1).toBeLessThanOrEqual(110);
});

describe("the workflows", () => {
  const workflows = globSync(".github/workflows/*.yml", { cwd: root }).map((file) => ({
    file,
    text: read(file),
  }));
  const publish = read(".github/workflows/publish.yml");
  const [, check = "", handOver = ""] = publish.split(/^ {2}(?:check|publish):$/m);

  test("name each action by its commit, with the version beside it", () => {
    const actions = workflows.flatMap(({ text }) =>
      Array.from(text.matchAll(/uses: (.*)/g), ([, uses]) => uses),
    );
    expect(actions.length).toBeGreaterThan(4);
    const loose = actions.filter(
      (uses) => !/^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(uses ?? ""),
    );
    expect(loose).toEqual([]);
  });

  test("may only read the repository; the publishing job also has its identity", () => {
    const granted = workflows.flatMap(({ file, text }) =>
      Array.from(
        text.matchAll(/^ +([\w-]+): (?:write|read)(?:-all)?$/gm),
        ([grant]) => `${file}:${grant.trim()}`,
      ),
    );
    expect(granted.toSorted()).toEqual([
      ".github/workflows/ci.yml:contents: read",
      ".github/workflows/long.yml:contents: read",
      ".github/workflows/publish.yml:contents: read",
      ".github/workflows/publish.yml:id-token: write",
    ]);
    for (const { text } of workflows) expect(text).toMatch(/^permissions:/m);
    expect(handOver).toContain("id-token: write");
    expect(workflows.filter(({ text }) => /secrets\.|pull_request_target/.test(text))).toEqual([]);
  });

  test("publish the package that .ci/run has checked, with provenance, in a job that runs no code of the project", () => {
    const commands = (job: string) => Array.from(job.matchAll(/- run: (.*)/g), ([, command]) => command);
    expect(commands(check).slice(-2)).toEqual([".ci/run", "npm run build && npm pack --ignore-scripts"]);
    expect(handOver).toMatch(/needs: check\n/);
    expect(handOver).not.toMatch(/checkout/);
    expect(commands(handOver)).toEqual(["npm publish ./*.tgz --provenance --access public --ignore-scripts"]);
  });
});
