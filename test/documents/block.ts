import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./named-tests.ts";

/** The code block of a document after a marker. */
export function block(document: string, marker: string, language: string): string {
  const text = readFileSync(join(root, document), "utf8");
  const [, code] = new RegExp(`<!-- ${marker} -->\n\`\`\`${language}\n([\\s\\S]*?)\n\`\`\``).exec(text) ?? [];
  if (code === undefined) throw new Error(`${document} has no ${language} block marked "${marker}"`);
  return code;
}
