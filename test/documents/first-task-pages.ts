/** What the pages of the platforms show of their first task. */
import { blocksOf, textOf } from "./code.ts";

/** The code of a page's first task. */
export function firstTaskOf(platform: string): string {
  return blocksOf(`docs/platforms/${platform}.md`).find(({ isNamed }) => isNamed)?.code ?? "none";
}

/** What the request and the program of each first task print. */
export function printedOfFirstTask() {
  const page = textOf("docs/platforms/README.md");
  const [, request = "", program = ""] =
    /```json\n(\{"id".*)\n```\n[\s\S]*?\n```\n([\s\S]*?)\n```/.exec(page) ?? [];
  return { request, program };
}
