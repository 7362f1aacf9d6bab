import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.ts";

export const read = (path: string) => readFileSync(join(root, path), "utf8");

/** A file as a page shows it. */
export const shownOf = (file: string): string =>
  (read(file).split("\n# In this repository")[0] ?? "").trimEnd();

/** A command to try the example here. */
const LOCAL = /^(?:curl "?http:\/\/(?:127|localhost)|npx netlify functions:invoke)/;

const blocksIn = (text: string, languages: readonly string[]) =>
  [...text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)]
    .filter(([, language = ""]) => languages.includes(language))
    .map(([, , code = ""]) => code);

type Files = (readonly [name: string, text: string])[];

function filesIn(text: string): Files {
  const found = text.matchAll(/^`([^`\n]+)`.*:\n\n(?:<!--.*-->\n)?```\w+\n([\s\S]*?)\n```$/gm);
  return Array.from(found, ([, name = "", shown = ""]) => [name, shown]);
}

/** Blocks of shell commands, as commands: each in one line, without comments. */
const commandsIn = (blocks: readonly string[]) =>
  blocks
    .join("\n")
    .replaceAll(/ *\\\n */g, " ")
    .split("\n")
    .map((line) => line.replace(/(^|\s+)#.*$/, "").trim())
    .filter((line) => line !== "");

/** What all platforms share. */
const shared = read("docs/platforms/README.md");
const startsMailService = (block: string) => /listen\(9090|port: 9090/.test(block);
const sharedShell = blocksIn(shared, ["sh"]);
export const [sharedMailCode = ""] = blocksIn(shared, ["ts"]);
export const sharedCommands = commandsIn(sharedShell.filter((block) => !startsMailService(block)));

export class Page {
  readonly path: string;
  readonly #text: string;
  /** Its row in the table of platforms. */
  readonly #row: string;
  /** The commands, in their order, without comments and without {@link mailService}. */
  readonly commands: readonly string[];
  /** The command that starts a mail service, to try the example against. */
  readonly mailService: string | undefined;

  constructor(platform: string) {
    this.path = `docs/platforms/${platform}.md`;
    this.#text = read(this.path);
    this.#row = new RegExp(`^\\| \\[[^\\]]*\\]\\(${platform}\\.md\\).*$`, "m").exec(shared)?.[0] ?? "";
    const shell = this.blocks("sh");
    this.mailService = [...shell, ...sharedShell].find(startsMailService);
    this.commands = commandsIn(shell.filter((block) => block !== this.mailService));
  }

  blocks(...languages: string[]): string[] {
    return blocksIn(this.#text, languages);
  }

  /** The files that it shows below their names. */
  get files(): Files {
    return filesIn(this.#text);
  }

  /** Those that the page of what all platforms share shows. */
  get sharedFiles(): Files {
    return filesIn(shared);
  }

  /** The code of the mail service here: what all platforms share, with the first task's import, export and end. */
  get mailCode(): string {
    const [firstTask = ""] = this.blocks("ts");
    const find = (pattern: RegExp) => pattern.exec(firstTask)?.[0] ?? "none";
    const opening = find(/^.* (?:sluice|serve)\(\{$/m).replace("({", "<Env>({");
    return sharedMailCode
      .replace(/^import \{ sluice \}.*$/m, () => find(/^import \{ (?:sluice|serve) \}.*$/m))
      .replace(/^export default sluice.*$/m, () => opening)
      .replace(/(?<=\n)\}\);$/, () => find(/(?<=\n)\}\);(?![\s\S]*\n\}\);)[\s\S]*$/));
  }

  /** All other commands than those that every platform's suite types. */
  get otherCommands(): string[] {
    const typed = [this.signUp, this.sweep, this.cron, ...this.deadLetterCommands];
    return this.commands.filter(
      (line) => !typed.includes(line) && !/\bsluice gateway --embedded --token local$/.test(line),
    );
  }

  command(start: string): string {
    return this.commands.find((line) => line.startsWith(start)) ?? `echo no ${start}; false`;
  }

  /** Those of all platforms, with the settings of this one. */
  get deadLetterCommands(): string[] {
    const [, file] = /`(\.[\w.]+)` \|$/.exec(this.#row) ?? [];
    const settings = file === undefined ? "" : ` --env ${file}`;
    const shown = sharedCommands.filter((line) => /\bsluice (?:dead|redrive) /.test(line));
    return shown.map((line) => line.replace(" --env .env", settings));
  }

  get signUp(): string {
    return this.#local(/\/signup\?to=a@example\.com/) ?? "false";
  }

  /** The request that sweeps, of servers that of all of them; and the command that does what cron does. */
  get sweep(): string | undefined {
    const isServer = this.cron === undefined;
    return [...this.commands, ...(isServer ? sharedCommands : [])].find(
      (line) => LOCAL.test(line) && /\/v1\/sweep/.test(line),
    );
  }
  get cron(): string | undefined {
    return this.#local(/\/cdn-cgi\/|\/invocations |functions:invoke/);
  }

  #local(found: RegExp): string | undefined {
    return this.commands.find((line) => LOCAL.test(line) && found.test(line));
  }

  /** The packages that the commands install beside Sluice. */
  get installed(): string[] {
    return installedBy(this.commands);
  }

  /** The settings of the page with the values of an environment, and what else is in that. */
  settings(env: Readonly<Record<string, string>>): string {
    const names = this.blocks("ini").flatMap((block) => block.match(/^\w+(?==)/gm) ?? []);
    const shown = names.filter((name) => name in env);
    return [...new Set([...shown, ...Object.keys(env)])].map((name) => `${name}='${env[name]}'\n`).join("");
  }
}

/** The packages that commands install beside Sluice, without their versions. */
export function installedBy(commands: readonly string[]): string[] {
  return commands
    .filter((line) => /^(?:npm install|bun add|deno add) /.test(line))
    .flatMap((line) => line.split(" ").slice(2))
    .filter((word) => !word.startsWith("-"))
    .map((word) => word.replace(/^npm:/, "").replace(/(?<=.)@.*$/, ""))
    .filter((name) => name !== "sluice-queue");
}
