import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { type Bundle, bundles } from "../../../bench/bundle/bundles.ts";
import { measure } from "../../../bench/bundle/measure.ts";
import { Queue as KernelQueue } from "../../../src/kernel/queue.ts";
import type { Store } from "../../../src/kernel/store.ts";
import { opened, type QueueOptions } from "../../../src/open/options.ts";
import { producerParts } from "../../../src/open/producer.ts";
import { storeOf } from "../../../src/open/store.ts";
import { ComparableAnswers } from "../../client/comparable-answers.ts";
import { day } from "../../client/day.ts";
import { recorded } from "../../support/recorded.ts";
import { QUEUE, useRig } from "../../support/rig.ts";
import { pass, type Passed } from "./feature.ts";

const rig = useRig();

test("a layer that does nothing sees each call, and changes no answer and no command", async () => {
  const passed: Passed = new Map();
  const layered = (options: QueueOptions) => {
    const own = opened(QUEUE, options);
    const store: Store = pass(storeOf(own), passed);
    return new KernelQueue({ ...producerParts(own), store, lease: 300_000, maxBytes: 8_000_000 });
  };
  const dayOf = async (make: (options: QueueOptions) => Parameters<typeof day>[0]) => {
    await rig.command("FLUSHALL");
    const { transport, scripts } = recorded(rig);
    const answers = await day(make({ transport, now: () => rig.now }));
    return { answers: new ComparableAnswers().of(answers), scripts: scripts() };
  };
  const plain = await dayOf((options) => rig.queue(options));
  expect(await dayOf(layered)).toEqual(plain);
  expect(Object.fromEntries(passed)).toEqual({ add: 11, find: 6, take: 4, settle: 5, settleAndTake: 1 });
});

/** A copy of the sources to which the feature was added: its folder, and a line in the entry. */
function withFeature(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), "sluice-feature-"));
  onTestFinished(() => rmSync(copy, { recursive: true }));
  for (const part of ["package.json", "src", "serverless"])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
  const folder = join(copy, "src/features/example");
  mkdirSync(folder);
  const feature = readFileSync(join(root, "test/features/example/feature.ts"), "utf8");
  writeFileSync(join(folder, "index.ts"), feature.replaceAll("../../../src/", "../../"));
  const entry = join(copy, "src/index.ts");
  writeFileSync(entry, `${readFileSync(entry, "utf8")}export { pass } from "./features/example/index.ts";\n`);
  return `${copy}/`;
}

test("a feature is a folder and a line in an entry, and adds no byte to a bundle that does not use it", async () => {
  const root = fileURLToPath(new URL("../../../", import.meta.url));
  const copy = withFeature(root);
  const plain = bundles.filter(({ source }) => source.includes("src/index.ts"));
  expect(plain.length).toBeGreaterThan(3);
  const sizes = (at: string) =>
    Promise.all(
      plain.map(async (bundle) => {
        // Compressed, a few bytes depend on which short names the bundler chooses.
        const { minified, files } = await measure(bundle, at);
        return [bundle.name, minified, files];
      }),
    );
  expect(await sizes(copy)).toEqual(await sizes(root));

  const using: Bundle = { name: "", source: `export { pass, Queue } from "./src/index.ts";`, part: "first" };
  const { files } = await measure(using, copy);
  expect([...files.keys()].filter((file) => file.startsWith("src/features/example/"))).toEqual([
    "src/features/example/index.ts",
  ]);
});
