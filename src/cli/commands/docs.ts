import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { Command } from "commander";
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
    .argument("[page]", "such as cloudflare, schedules or library/queues")
    .option("--path", "print only the path of the file")
    .option("--open", "open the file with the program of the system, or print its path if there is none")
    .action(async (name: string | undefined, { path, open }: DocsOptions) => {
      const pages = pagesOf(docsFolder());
      const found = name === undefined ? undefined : pageNamed(pages, name);
      const file = found?.path ?? docsFolder();
      if (open && (await opened(file, io.env))) return;
      if (open || path) io.stdout.write(`${file}\n`);
      else if (found) io.stdout.write(readFileSync(found.path, "utf8"));
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
  const wanted = name.toLowerCase().replace(/\.md$/, "");
  const exact = pages.filter(({ page }) => page.toLowerCase() === wanted);
  const named = exact.length > 0 ? exact : pages.filter(({ page }) => page.endsWith(`/${wanted}`));
  const [found, ...others] = named;
  if (found && others.length === 0) return found;
  const near = found
    ? named
    : pages.filter(({ page, title }) => `${page} ${title}`.toLowerCase().includes(wanted));
  const [only, ...rest] = near;
  if (only && rest.length === 0) return only;
  const hint = near.length > 0 ? near.map(({ page }) => page).join(", ") : "see `sluice docs`";
  throw new Refusal(`${found ? "several pages have" : "no page has"} the name ${name}: ${hint}`);
}

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
