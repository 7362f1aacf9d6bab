import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { openapi } from "../src/http/docs/openapi.gen.ts";
import { llms } from "./llms.ts";
import { reference } from "./reference.ts";
import { placeOf, REFERENCE, root, textOf, tree } from "./tree.ts";

/** What VitePress builds: the pages at their places in the site. */
export const staged = join(import.meta.dirname, ".staged");

const pages = tree.flatMap((group) => group.pages);

/** A page of the repository as one of the site: links lead to the places of pages there, or are only their texts. */
function pageOf(page: string): string {
  const place = placeOf(page);
  const from = posix.dirname(place);
  const fences = /^( *)```[\s\S]*?^\1```$/gm;
  const leads = (target: string) => {
    const [path = "", anchor] = target.split("#");
    const file = posix.join(posix.dirname(page), path);
    if (pages.includes(file)) return posix.relative(from, placeOf(file)) + (anchor ? `#${anchor}` : "");
    if (/^docs\/pictures\/|^notes\/.*\.svg$/.test(file))
      return posix.relative(from, file.replace("docs/", ""));
    return undefined;
  };
  const linked = (text: string) =>
    text
      .replaceAll(
        /<a href="[^"]*"><picture>[\s\S]*?<img src="([^"]*)" alt="([^"]*)"[\s\S]*?<\/a>/g,
        "![$2]($1)",
      )
      .replaceAll(
        /(!?)\[((?:[^[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)/g,
        (whole: string, mark: string, label: string, to: string) => {
          if (/^(?:https?:|#|mailto:)/.test(to)) return whole;
          const target = leads(to);
          if (target === undefined) return label;
          const relative = target.startsWith(".") ? target : `./${target}`;
          return `${mark}[${label}](${relative})`;
        },
      );
  let text = "";
  let at = 0;
  const source = textOf(page);
  for (const { 0: fence, index } of source.matchAll(fences)) {
    text += linked(source.slice(at, index)) + fence;
    at = index + fence.length;
  }
  return text + linked(source.slice(at));
}

function write(place: string, text: string): void {
  const file = join(staged, place);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

/** Writes the pages, their pictures, the reference and llms.txt. */
export function stage(): void {
  rmSync(staged, { recursive: true, force: true });
  for (const page of pages) {
    if (!existsSync(join(root, page))) throw new Error(`the navigation names ${page}, which does not exist`);
    write(placeOf(page), pageOf(page));
  }
  write(REFERENCE, reference(openapi));
  // Pages show some pictures, and link to others.
  for (const folder of ["pictures", "public/pictures"])
    cpSync(join(root, "docs/pictures"), join(staged, folder), { recursive: true });
  for (const name of ["fairness.svg", "growth.svg"])
    cpSync(join(root, "notes", name), join(staged, "notes", name));
  write("public/llms.txt", llms());
  // The Markdown itself, for programs.
  for (const page of [...pages.map(placeOf), REFERENCE])
    cpSync(join(staged, page), join(staged, "public", page));
}
