import { globSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

export const root = fileURLToPath(new URL("../", import.meta.url));

/** The navigation: each page of the repository, by its path, below the title of its group. */
export const tree: readonly { readonly title: string; readonly pages: readonly string[] }[] = [
  {
    title: "Start",
    pages: [
      "README.md",
      "docs/is-it-for-me.md",
      "docs/how-it-works.md",
      "docs/concepts.md",
      "docs/README.md",
    ],
  },
  {
    title: "Platforms",
    pages: ["docs/platforms/README.md", ...pagesOf("docs/platforms"), "docs/deployments.md"],
  },
  { title: "The library", pages: ["docs/library/README.md", ...pagesOf("docs/library")] },
  {
    title: "More for queues",
    pages: [
      "docs/flows.md",
      "docs/topics.md",
      "docs/push.md",
      "docs/partitions.md",
      "docs/offload.md",
      "docs/testing.md",
      "docs/gateway.md",
      "docs/http.md",
    ],
  },
  {
    title: "Operate",
    pages: [
      "docs/operating.md",
      "docs/operating/prepare.md",
      "docs/dashboard.md",
      "docs/cli.md",
      "docs/alerts.md",
      "docs/metrics.md",
      "docs/tracing.md",
    ],
  },
  { title: "Recipes", pages: ["docs/recipes/README.md", ...pagesOf("docs/recipes")] },
  { title: "Moving", pages: ["docs/moving/README.md", ...pagesOf("docs/moving")] },
  {
    title: "Facts",
    pages: ["docs/guarantees.md", "SECURITY.md", "docs/costs.md", "docs/benchmarks.md", "CHANGELOG.md"],
  },
  { title: "Data model", pages: ["lua/README.md", ...pagesOf("lua")] },
  { title: "Inside", pages: pagesOf("notes") },
];

/** The page of the HTTP interface that is made of the OpenAPI document. */
export const REFERENCE = "http-reference.md";

/** The pages of a folder, except its first one. */
function pagesOf(folder: string): string[] {
  return globSync(`${folder}/*.md`, { cwd: root, exclude: ["**/README.md"] }).toSorted();
}

/** Where the site has a page of the repository: `docs/platforms/README.md` is `platforms/index.md`. */
export function placeOf(page: string): string {
  if (page === "README.md") return "index.md";
  if (page === "docs/README.md") return "pages.md";
  return page
    .replace(/^docs\//, "")
    .replace(/^lua\//, "data-model/")
    .replace(/README\.md$/, "index.md")
    .replace(/^(SECURITY|CHANGELOG)\.md$/, (name) => name.toLowerCase());
}

export const textOf = (page: string): string => readFileSync(`${root}${page}`, "utf8");

/** The title of a page, without marks. */
export const titleOf = (text: string): string => (/^# (.*)$/m.exec(text)?.[1] ?? "").replaceAll(/[`*]/g, "");

/** The id of a heading, as GitHub makes it. */
export const slugify = (heading: string): string =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, "")
    .replaceAll(" ", "-");
