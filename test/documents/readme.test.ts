import { execFile } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { useFolder } from "../support/folder.ts";
import { block, runs } from "./block.ts";
import { root } from "./named-tests.ts";

/** Makes `sluice-queue` of a folder the sources, with these entries: `local/index` is `sluice-queue/local`. */
function installSources(folder: string, entries: readonly string[]): void {
  const home = join(folder, "node_modules/sluice-queue");
  mkdirSync(home, { recursive: true });
  const exports = entries.map((entry) => {
    const name = entry.replace(/\/?index$/, "").replace(/^transport\//, "");
    const file = `${name || "index"}.js`;
    const source = pathToFileURL(join(root, `src/${entry}.ts`)).href;
    writeFileSync(join(home, file), `export * from "${source}";\n`);
    return [name ? `./${name}` : ".", `./${file}`];
  });
  const manifest = { name: "sluice-queue", type: "module", exports: Object.fromEntries(exports) as object };
  writeFileSync(join(home, "package.json"), JSON.stringify(manifest));
}

const folder = useFolder();

describe("the README's quick start", () => {
  test("prints what the README shows, on Node and the embedded store", async () => {
    const { path: cwd } = folder;
    installSources(cwd, ["index", "local/index", "transport/upstash"]);
    writeFileSync(join(cwd, "first.mjs"), block("README.md", `${runs} code`, "js"));
    const { stdout } = await promisify(execFile)(process.execPath, ["first.mjs"], { cwd });
    const shown = block("README.md", "test/documents/readme.test.ts compares what it prints", "console");
    expect(`$ node first.mjs\n${stdout}`).toBe(`${shown}\n`);
  });

  test("has the code of examples/quick-start, which test/platforms/cloudflare runs", () => {
    const example = readFileSync(join(root, "examples/quick-start/worker.ts"), "utf8");
    expect(block("README.md", `${runs} Worker`, "ts")).toBe(example.trimEnd());
  });
});

test("the library's first use is the code of examples/first-use", () => {
  const example = readFileSync(join(root, "examples/first-use/worker.ts"), "utf8");
  expect(block("docs/library.md", `${runs} code`, "ts")).toBe(example.trimEnd());
});
