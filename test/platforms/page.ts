import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./project.ts";

export const read = (path: string) => readFileSync(join(root, path), "utf8");

/** A file as a page shows it. */
export const shownOf = (file: string): string =>
  (read(file).split("\n# In this repository")[0] ?? "").trimEnd();

/** A command to try the example here. */
const LOCAL = /^(?:curl "?http:\/\/(?:127|localhost)|npx netlify functions:invoke)/;

export class Page {
  readonly path: string;
  readonly #text: string;
  /** The commands, in their order, without comments and without {@link mailService}. */
  readonly commands: readonly string[];
  /** The command that starts a mail service, to try the example against. */
  readonly mailService: string | undefined;

  constructor(platform: string) {
    this.path = `docs/platforms/${platform}.md`;
    this.#text = read(this.path);
    const shell = this.blocks("sh");
    this.mailService = shell.find((block) => block.includes("9090"));
    this.commands = shell
      .filter((block) => block !== this.mailService)
      .join("\n")
      .replaceAll(/ *\\\n */g, " ")
      .split("\n")
      .map((line) => line.replace(/(^|\s+)#.*$/, "").trim())
      .filter((line) => line !== "");
  }

  blocks(...languages: string[]): string[] {
    return [...this.#text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)]
      .filter(([, language = ""]) => languages.includes(language))
      .map(([, , code = ""]) => code);
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

  get deadLetterCommands(): string[] {
    return this.commands.filter((line) => /\bsluice (?:dead|redrive) /.test(line));
  }

  get signUp(): string {
    return this.#local(/\/signup\?to=a@example\.com/) ?? "false";
  }

  /** The request that sweeps, and the command that does what cron does, if the page has them. */
  get sweep(): string | undefined {
    return this.#local(/\/v1\/sweep/);
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
