import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { changedFiles } from "../near/changes.ts";
import { Chooser } from "../near/choice.ts";

// A repository of its own, with a source of each kind.

let root: string;

function write(file: string, text = ""): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

const git = (...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@sluice.test", ...args], { cwd: root });

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "sluice-near-"));
  write("lua/enqueue.lua");
  write("src/queue.ts", `import { key } from "./key.ts";`);
  write("src/key.ts");
  write("src/lonely.ts");
  write("docs/page.md");
  write("examples/mails/main.py");
  write("serverless/bun/main.ts");
  write("test/support/rig.ts", `import { Queue } from "../../src/queue.ts";`);
  write("test/unit/key.test.ts", `import { key } from "../../src/key.ts";`);
  write("test/integration/enqueue.test.ts", `const { Rig } = await import("../support/rig.ts");`);
  write("test/contract/lua.test.ts");
  write("test/documents/pages.test.ts");
  write("test/examples/mails.test.ts");
  write("test/runtime/bun.test.ts");
  write("test/runtime/bun-quick-start.test.ts");
  write("test/package/pack.test.ts");
});
afterEach(() => rmSync(root, { recursive: true }));

describe("near to a changed file are", () => {
  const map = { "lua/enqueue.lua": ["integration/enqueue", "integration/deleted"] };
  const contract = ["test/contract/lua.test.ts"];
  const importers = ["test/integration/enqueue.test.ts", "test/unit/key.test.ts"];

  test.each<[what: string, file: string, tests: readonly string[] | "fast", also?: string[]]>([
    [
      "for a script the tests of the map, and the contract",
      "lua/enqueue.lua",
      ["test/integration/enqueue.test.ts"],
      contract,
    ],
    [
      "for a source the tests that import it, by way of others too, and the contract",
      "src/key.ts",
      importers,
      contract,
    ],
    ["for a source that no test imports the fast tier, and the contract", "src/lonely.ts", "fast", contract],
    ["for a test file itself", "test/unit/key.test.ts", ["test/unit/key.test.ts"]],
    [
      "for what tests share the tests that import it",
      "test/support/rig.ts",
      ["test/integration/enqueue.test.ts"],
    ],
    ["for a test that was deleted none", "test/unit/deleted.test.ts", []],
    ["for the test of the package none", "test/package/pack.test.ts", []],
    ["for a page those of the documents", "docs/page.md", ["test/documents/pages.test.ts"]],
    ["for an example those of the examples", "examples/mails/main.py", ["test/examples/mails.test.ts"]],
    [
      "for a platform's entry those of the platform",
      "serverless/bun/main.ts",
      ["test/runtime/bun-quick-start.test.ts", "test/runtime/bun.test.ts"],
    ],
    ["for anything else the fast tier", "package.json", "fast"],
  ])("%s", (_, file, tests, also) => {
    const chosen = new Chooser(root, map).choose([file]);
    expect(chosen.map((choice) => choice.tests)).toEqual(also ? [tests, also] : [tests]);
    expect(chosen.every(({ file: named, why }) => named === file && why !== "")).toBe(true);
  });

  test("for a file that more than 40 test files import the fast tier", () => {
    for (let i = 0; i < 41; i++) write(`test/http/${i}.test.ts`, `import "../support/rig.ts";`);
    expect(new Chooser(root, map).choose(["test/support/rig.ts"]).map(({ tests }) => tests)).toEqual([
      "fast",
    ]);
  });
});

describe("changed are", () => {
  beforeEach(() => {
    git("init", "--quiet", "--initial-branch=main");
    git("add", "--all");
    git("commit", "--quiet", "--message=first");
  });

  test("what is not committed, and what git does not know yet", () => {
    expect(changedFiles(root, undefined)).toEqual([]);
    write("src/key.ts", "changed");
    rmSync(join(root, "src/lonely.ts"));
    write("lua/new.lua");
    write("docs/page.md", "staged");
    git("add", "docs/page.md");
    expect(changedFiles(root, undefined)).toEqual([
      "docs/page.md",
      "lua/new.lua",
      "src/key.ts",
      "src/lonely.ts",
    ]);
  });

  test("with a revision all since the branch left it", () => {
    git("checkout", "--quiet", "-b", "branch");
    write("src/key.ts", "changed");
    git("commit", "--quiet", "--all", "--message=second");
    git("checkout", "--quiet", "main");
    write("src/lonely.ts", "changed on main");
    git("commit", "--quiet", "--all", "--message=third");
    git("checkout", "--quiet", "branch");
    write("docs/page.md", "not committed");
    expect(changedFiles(root, undefined)).toEqual(["docs/page.md"]);
    expect(changedFiles(root, "main")).toEqual(["docs/page.md", "src/key.ts"]);
    expect(() => changedFiles(root, "nothing-of-that-name")).toThrow();
  });
});
