import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("../../src/", import.meta.url));

interface Feature {
  readonly name: string;
  /** The files and folders that are the feature. */
  readonly own: readonly string[];
  /** The words that name it in code. */
  readonly words: RegExp;
  /** In how many files it may be named. To be lowered with each file that no longer names it. */
  readonly most: number;
}

/** In how many files a feature should be named at most. */
const GOAL = 6;

const FEATURES: readonly Feature[] = [
  {
    name: "partitions",
    own: ["features/partitions"],
    words: /partition/i,
    most: 6,
  },
  {
    name: "offload",
    own: ["features/offload"],
    words: /offload/i,
    most: 5,
  },
  {
    name: "tracing",
    own: ["features/tracing"],
    words: /[tT]racing|[tT]raced|Trace|trace[A-Z]/,
    most: 2,
  },
  {
    name: "waking",
    own: ["features/waking"],
    // Not `wake`, an argument of scripts that any caller may leave empty.
    words: /[wW]aker|[wW]aking/,
    most: 4,
  },
];

/** What composes queues and deployments, and shows what they have. It may name every feature. */
const ENTRIES = ["index.ts", "open", "deploy", "http", "testing", "cli", "dashboard", "local", "qstash"];

const under = (file: string, places: readonly string[]) =>
  places.some((place) => file === place || file.startsWith(`${place}/`));

const sources = globSync("**/*.{ts,tsx}", { cwd: root })
  .filter((file) => !file.includes(".gen.") && !under(file, ENTRIES))
  .map((file) => {
    const text = readFileSync(`${root}${file}`, "utf8");
    return { file, code: text.replace(/\/\*[\s\S]*?\*\/|\/\/.*/g, "") };
  });

const named = ({ own, words }: Feature) =>
  sources.filter(({ file, code }) => !under(file, own) && words.test(code)).map(({ file }) => file);

test.each(FEATURES.map((feature) => ({ ...feature, files: named(feature) })))(
  `$name: named in $files.length files beside its own, of at most $most; the goal is ${GOAL}`,
  ({ files, most }) => {
    expect(files.length, `It is named in ${files.join(", ")}`).toBeLessThanOrEqual(most);
  },
);
