import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
import { nearestName } from "../../nearest-name.ts";
import { Refusal } from "../exit.ts";
import type { Io } from "../io.ts";
import { Output } from "../output/output.ts";

/** A page of the package. */
interface DocsPage {
  /** Its path below `docs`, without the ending: `library/schedules`; of a folder's first page that of the folder. */
  readonly page: string;
  readonly title: string;
  readonly path: string;
}

/** A heading of a page. */
interface Heading {
  /** As in links to it: `dead-letters`. */
  readonly anchor: string;
  /** How deep it is: 2 for `##`. */
  readonly level: number;
  /** Its line in the page. */
  readonly line: number;
}

interface DocsOptions {
  readonly path?: true;
  readonly open?: true;
}

export function docsCommand(io: Io): Command {
  return new Command("docs")
    .summary("list the pages of the documentation, or print one")
    .description(
      "Lists the pages of the documentation that the package has, or prints one. They are those of the installed version, and need no network.",
    )
    .argument("[page]", "such as cloudflare or library/queues; with #heading only that section")
    .option("--path", "print only the path of the file")
    .option("--open", "open the file with the program of the system, or print its path if there is none")
    .action(async (name: string | undefined, { path, open }: DocsOptions) => {
      const pages = pagesOf(docsFolder());
      const [wanted = "", anchor] = (name ?? "").split("#");
      const found = name === undefined ? undefined : pageNamed(pages, wanted);
      const file = found?.path ?? docsFolder();
      if (open && (await opened(file, io.env))) return;
      if (open || path) io.stdout.write(`${file}\n`);
      else if (found) io.stdout.write(sectionOf(readFileSync(found.path, "utf8"), anchor));
      else list(new Output(io, {}), pages);
    });
}

function list(out: Output, pages: readonly DocsPage[]): void {
  out.rows(
    pages,
    [
      { title: "PAGE", copied: true, of: ({ page }) => page },
      { title: "TITLE", fills: true, of: ({ title }) => title },
    ],
    "The package has no pages.",
  );
}

/** The folder of the pages: in the root of the package, however deep this module is below it. */
function docsFolder(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, "docs/README.md"))) {
    const above = dirname(folder);
    if (above === folder) throw new Refusal("this installation of sluice-queue has no folder docs");
    folder = above;
  }
  return join(folder, "docs");
}

function pagesOf(folder: string): DocsPage[] {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => file.endsWith(".md"))
    .map((file) => {
      const path = join(folder, file);
      const [, title = ""] = /^# (.*)$/m.exec(readFileSync(path, "utf8")) ?? [];
      const page = file.replaceAll(sep, "/").replace(/(?:(?:^|\/)README)?\.md$/, "");
      return { page: page === "" ? "README" : page, title: title.replaceAll("`", ""), path };
    })
    .toSorted((one, other) => (one.page < other.page ? -1 : 1));
}

/** @throws {Refusal} if no page has the name, or several do */
function pageNamed(pages: readonly DocsPage[], name: string): DocsPage {
  const wanted = name.toLowerCase().replace(/^docs\/|\.md$/g, "");
  const exact = pages.filter(({ page }) => page.toLowerCase() === wanted);
  const named = exact.length > 0 ? exact : pages.filter(({ page }) => page.endsWith(`/${wanted}`));
  const [found, ...others] = named;
  if (found && others.length === 0) return found;
  const near = found
    ? named
    : pages.filter(({ page, title }) => `${page} ${title}`.toLowerCase().includes(wanted));
  const [only, ...rest] = near;
  if (only && rest.length === 0) return only;
  const listed = near.map(({ page }) => page).join(", ");
  if (found) throw new Refusal(`several pages have the name ${name}: ${listed}`);
  throw new Refusal(`no page has the name ${name}${listed ? `: ${listed}` : meantBy(pages, wanted)}`);
}

/** What a name may mean that no page has and no title: a page whose name is misspelt, or sections. */
function meantBy(pages: readonly DocsPage[], wanted: string): string {
  const names = pages.flatMap(({ page }) => [page, page.slice(page.lastIndexOf("/") + 1)]);
  const nearest = nearestName(wanted, names);
  if (nearest !== undefined) return `; did you mean ${nearest}?`;
  const sections = pages.flatMap(({ page, path }) =>
    headingsOf(readFileSync(path, "utf8").split("\n"))
      .filter(({ anchor }) => anchor.includes(anchorOf(wanted)))
      .map(({ anchor }) => `${page}#${anchor}`),
  );
  if (sections.length === 0) return "; see `sluice docs`";
  const more = sections.length > MOST_SECTIONS ? " …" : "";
  return `; these sections have it: ${sections.slice(0, MOST_SECTIONS).join(" ")}${more}`;
}

const MOST_SECTIONS = 10;

/** The heading with its section, up to the next heading that is not deeper; the whole page if it has no such heading. */
function sectionOf(text: string, anchor: string | undefined): string {
  const lines = text.split("\n");
  const headings = headingsOf(lines);
  const at = headings.findIndex((heading) => heading.anchor === anchor?.toLowerCase());
  const heading = headings[at];
  if (!heading) return text;
  const next = headings.slice(at + 1).find(({ level }) => level <= heading.level);
  return `${lines.slice(heading.line, next?.line).join("\n").trimEnd()}\n`;
}

function headingsOf(lines: readonly string[]): Heading[] {
  const headings: Heading[] = [];
  let isCode = false;
  for (const [line, text] of lines.entries()) {
    if (text.trimStart().startsWith("```")) isCode = !isCode;
    const [, marks = "", title = ""] = (!isCode && /^(#+) (.*)$/.exec(text)) || [];
    if (marks !== "") headings.push({ anchor: anchorOf(title), level: marks.length, line });
  }
  return headings;
}

/** As hosts of Markdown make it of a heading. */
const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\p{L}\p{N}_ -]/gu, "")
    .replaceAll(" ", "-");

/** Whether a program of the system has opened the file. A Linux without a screen has none. */
function opened(file: string, env: Io["env"]): Promise<boolean> {
  const { platform } = process;
  if (platform === "linux" && !env["DISPLAY"] && !env["WAYLAND_DISPLAY"]) return Promise.resolve(false);
  const [program = "", ...args] =
    platform === "darwin" ? ["open"] : platform === "win32" ? ["cmd", "/c", "start", ""] : ["xdg-open"];
  return new Promise((resolve) => {
    const child = spawn(program, [...args, file], { detached: true, stdio: "ignore" });
    child.once("error", () => resolve(false));
    child.once("spawn", () => {
      child.unref();
      resolve(true);
    });
  });
}
