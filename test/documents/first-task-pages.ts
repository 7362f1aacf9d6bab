/** What the pages of the platforms show of their first task. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./named-tests.ts";

const marker = "<!-- test/documents/platforms.test.ts runs this code -->";

/** The code of a page's first task. */
export function firstTaskOf(platform: string): string {
  const page = readFileSync(join(root, `docs/platforms/${platform}.md`), "utf8");
  const [, shown = "none"] = new RegExp(`${marker}\n\`\`\`ts\n([\\s\\S]*?)\n\`\`\``).exec(page) ?? [];
  return shown;
}

/** What the page says that the request and the program print. */
export function printedOf(platform: string) {
  const page = readFileSync(join(root, `docs/platforms/${platform}.md`), "utf8");
  const [, request = "", program = ""] =
    /```json\n(\{"id".*)\n```\n[\s\S]*?\n```\n([\s\S]*?)\n```/.exec(page) ?? [];
  return { request, program };
}
