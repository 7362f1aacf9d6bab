/** What the pages of the platforms show of their first task. */
import { blocksOf, textOf } from "./code.ts";

/** The code of a page's first task. */
export function firstTaskOf(platform: string): string {
  return blocksOf(`docs/platforms/${platform}.md`).find(({ isNamed }) => isNamed)?.code ?? "none";
}

/** What the page says that the request and the program print. */
export function printedOf(platform: string) {
  const [, request = "", program = ""] =
    /```json\n(\{"id".*)\n```\n[\s\S]*?\n```\n([\s\S]*?)\n```/.exec(
      textOf(`docs/platforms/${platform}.md`),
    ) ?? [];
  return { request, program };
}
