import { expect, test } from "vitest";
import { pages, textOf } from "./code.ts";

// Counted as `wc -w README.md docs/*.md docs/*/*.md` counts them: code, tables and marks included.
const MOST_WORDS = 61_500;
/** Sentences that two pages or more have. */
const MOST_REPEATED = 0;
/** A shorter sentence may be the same by chance. */
const LENGTH = 60;

/** The sentences of a page, each in one line and without marks. A cell of a table and an item are their own. */
function sentencesOf(text: string): string[] {
  const prose = text
    .replaceAll(/^( *)```[\s\S]*?^\1```$/gm, "\n")
    .replaceAll(/<!--[\s\S]*?-->/g, "\n")
    .replaceAll(/\]\([^)]*\)/g, "")
    .replaceAll(/[[\]*`]/g, "")
    .replaceAll(/^ *(?:[-#|]+|\d+\.) /gm, "\n\n");
  const paragraphs = prose.split(/\n\s*\n|(?<!\\)\|/);
  return paragraphs
    .flatMap((paragraph) => paragraph.replaceAll(/\s+/g, " ").split(/(?<=[.!?:;]) /))
    .map((sentence) => sentence.trim())
    .filter((sentence) => sentence.length > LENGTH);
}

test("README and pages have no more words than they may", () => {
  const words = pages.map((page) => textOf(page).match(/\S+/g)?.length ?? 0);
  expect(words.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(MOST_WORDS);
});

test("no two pages have the same sentence", () => {
  const places = new Map<string, Set<string>>();
  for (const page of pages)
    for (const sentence of sentencesOf(textOf(page)))
      places.set(sentence, (places.get(sentence) ?? new Set()).add(page));
  const repeated = Array.from(places).filter(([, at]) => at.size > 1);
  const shown = repeated.map(([sentence, at]) => `${[...at].join(", ")}: ${sentence}`);
  expect(shown.length, shown.join("\n")).toBeLessThanOrEqual(MOST_REPEATED);
});

test("sentences are found across lines, in cells and items, and without marks", () => {
  const one = "The consumer of this *page* is called with `each` task of the [queue](queues.md#q).";
  const plain = "The consumer of this page is called with each task of the queue.";
  const wrapped = one.replace("called ", "called\n  ");
  const text = `# A title\n\n${wrapped} Short.\n\n\`\`\`sh\n${one}\n\`\`\`\n\n- ${wrapped}\n\n| a | ${one} |\n`;
  expect(sentencesOf(text)).toEqual([plain, plain, plain]);
});
