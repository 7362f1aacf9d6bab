import { placeOf, REFERENCE, textOf, titleOf, tree } from "./tree.ts";

/** The first sentence of a page's text. */
function firstSentence(text: string): string {
  const [paragraph = ""] = text
    .replace(/^[\s\S]*?^# .*$/m, "")
    .split("\n\n")
    .map((part) => part.trim())
    .filter((part) => /^[\w`*[]/.test(part));
  const plain = paragraph
    .replaceAll(/\s+/g, " ")
    .replaceAll(/\]\([^)]*\)/g, "")
    .replaceAll(/[[\]*`]/g, "");
  return /^.*?[.:](?= |$)/.exec(plain)?.[0] ?? plain;
}

/** The list of pages for programs that read Markdown (llmstxt.org). */
export function llms(): string {
  const groups = tree.map(({ title, pages }) => {
    const rows = pages.map((page) => {
      const text = textOf(page);
      return `- [${titleOf(text)}](${placeOf(page)}): ${firstSentence(text)}`;
    });
    if (pages.includes("docs/http.md"))
      rows.push(`- [HTTP reference](${REFERENCE}): every route, with its fields and responses.`);
    return `## ${title}\n\n${rows.join("\n")}\n`;
  });
  return `# Sluice\n\n> ${firstSentence(textOf("README.md"))}\n\n${groups.join("\n")}`;
}
